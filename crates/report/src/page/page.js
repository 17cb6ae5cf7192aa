"use strict";
(() => {
  // The player that keys act on: the one that was used last.
  let active = null;

  // An element with a text. Texts of the program only ever become text nodes.
  const make = (tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  class Player {
    constructor(root) {
      this.root = root;
      this.run = JSON.parse(root.querySelector(".data").textContent);
      this.at = 0;
      this.slider = root.querySelector("input");
      this.output = root.querySelector("output");
      this.what = root.querySelector(".what");
      this.state = root.querySelector(".state");
      this.events = [...root.querySelectorAll(".event")];
      this.lines = [];
      const source = root.closest("article").querySelector(".source");
      if (source) {
        // The program stands beside its run, too.
        const beside = root.querySelector(".beside");
        beside.append(source.cloneNode(true));
        this.lines = [...root.closest("article").querySelectorAll(":scope > .section:not(.run) .source tr"), ...beside.querySelectorAll("tr")];
      }
      if (!this.run) {
        root.querySelector(".controls").hidden = true;
        return;
      }
      this.last = this.run.steps.length - 1;
      this.slider.max = this.last;
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      for (const button of root.querySelectorAll("button"))
        button.addEventListener("click", () => this.move(button.dataset.go));
      for (const event of this.events)
        event.addEventListener("click", () => this.go(Number(event.dataset.last) + 1));
      root.addEventListener("pointerdown", () => (active = this));
      root.addEventListener("focusin", () => (active = this));
      this.show();
    }

    move(how) {
      // Behind the end of a cycle comes its first step again.
      const on = this.at === this.last && this.repeats() ? this.run.cycle + 1 : this.at + 1;
      const to = { first: 0, back: this.at - 1, on, last: this.last }[how];
      this.go(to);
    }

    go(to) {
      active = this;
      this.at = Math.max(0, Math.min(this.last, to));
      for (const line of document.querySelectorAll(".source tr.now")) line.classList.remove("now");
      this.show();
      const line = this.run.steps[this.at].line;
      for (const row of this.lines) row.classList.toggle("now", Number(row.dataset.line) === line);
      this.reveal(this.root.querySelector(".beside"), this.root.querySelector(".beside tr.now"));
      this.reveal(this.root.querySelector(".drawing"), this.root.querySelector(".event.now"));
    }

    repeats() {
      return this.run.cycle !== undefined;
    }

    // Scrolls a box, and nothing around it, so that something in it is in view.
    reveal(box, element) {
      if (!box || !element) return;
      const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
      const room = { x: Math.max(0, (outer.width - inner.width) / 2), y: Math.max(0, (outer.height - inner.height) / 2) };
      if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - room.y;
      if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - room.x;
    }

    show() {
      const { threads, steps } = this.run;
      const step = steps[this.at];
      const before = steps[Math.max(0, this.at - 1)];
      this.slider.value = this.at;
      const inCycle = this.repeats() && this.at > this.run.cycle;
      this.output.textContent = "step " + this.at + " of " + this.last + (inCycle ? ", again and again" : "");
      for (const button of this.root.querySelectorAll("button")) {
        const back = button.dataset.go === "first" || button.dataset.go === "back";
        // A disabled button would lose the focus, and with it the keys.
        button.setAttribute("aria-disabled", back ? this.at === 0 : this.at === this.last && !(button.dataset.go === "on" && this.repeats()));
      }
      for (const event of this.events) {
        const now = this.at - 1 >= Number(event.dataset.first) && this.at - 1 <= Number(event.dataset.last);
        event.classList.toggle("now", now);
      }
      this.what.replaceChildren();
      if (this.at === 0) this.what.append("Before the first step.");
      else {
        this.what.append(make("strong", threads[step.thread] ? threads[step.thread].name : ""), ", line " + step.line + ": ");
        this.what.append(make("code", step.code), step.effect ? " " + step.effect : "");
      }
      this.state.replaceChildren(this.memory(step, before));
      threads.forEach((_, index) => this.state.append(this.thread(step, before, index)));
    }

    memory(step, before) {
      const card = make("div", undefined, "card memory");
      card.append(make("h5", "memory"));
      const list = make("dl");
      this.run.locations.forEach((name, index) => {
        const values = step.memory[index];
        const value = make("dd");
        if (step.views) {
          // Under release/acquire: all values, in the order of modification.
          values.forEach((v, time) => {
            if (time > 0) value.append(" → ");
            // The thread that has just written knows its own value, and none that is newer.
            const more = values.length > before.memory[index].length;
            const fresh = more && step.views[step.thread][index] === time;
            value.append(make("span", String(v), fresh ? "changed" : ""));
          });
        } else value.append(make("span", String(values[0]), values[0] !== before.memory[index][0] ? "changed" : ""));
        list.append(make("dt", name), value);
      });
      card.append(list);
      return card;
    }

    thread(step, before, index) {
      const names = this.run.threads[index];
      const card = make("div", undefined, "card thread" + (step.thread === index ? " acts" : ""));
      card.dataset.thread = names.name;
      card.append(make("h5", names.name));
      const list = make("dl");
      list.append(make("dt", "stands"), make("dd", step.at[index]));
      names.registers.forEach((name, register) => {
        const value = step.registers[index][register];
        const cell = make("dd");
        cell.append(make("span", String(value), value !== before.registers[index][register] ? "changed" : ""));
        list.append(make("dt", name), cell);
      });
      if (step.buffers) {
        const cell = make("dd", undefined, "buffer");
        for (const store of step.buffers[index]) cell.append(make("span", store, "cell"));
        if (!step.buffers[index].length) cell.append(make("span", "empty", "quiet"));
        list.append(make("dt", "buffer"), cell);
      }
      if (step.views) {
        this.run.locations.forEach((name, location) => {
          const cell = make("dd", undefined, "view");
          step.memory[location].forEach((value, time) => {
            const known = time < step.views[index][location];
            cell.append(make("span", String(value), known ? "cell gone" : "cell"));
          });
          list.append(make("dt", "may read " + name), cell);
        });
      }
      card.append(list);
      return card;
    }
  }

  const start = () => {
    const players = [...document.querySelectorAll(".player")].map((root) => new Player(root));
    active = players.find((player) => player.run) || null;
  };
  start();
  // A page that puts another run here starts it by this.
  globalThis.palisadeStart = start;

  // A link into something that is folded unfolds it.
  const unfold = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  document.addEventListener("keydown", (event) => {
    if (!active || event.altKey || event.ctrlKey || event.metaKey) return;
    // The slider and text fields have their own keys.
    if (event.target instanceof HTMLInputElement) return;
    const how = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    if (!how) return;
    // Home and End belong to the page unless a player is in use.
    if ((event.key === "Home" || event.key === "End") && !active.root.contains(document.activeElement)) return;
    event.preventDefault();
    active.move(how);
  });
})();
