// The player of reports, in a frame: it is shown whatever run the page sends.
import "../../crates/report/src/page/page.js";

declare global {
  var palisadeStart: () => void;
}

addEventListener("message", (event) => {
  if (event.source !== parent) return;
  const { style, player } = event.data as { style: string; player: string };
  document.getElementById("style")!.textContent = style;
  // What comes from the program was escaped where the run was drawn, and scripts do not run here but for the page's own.
  document.querySelector("main")!.innerHTML = player;
  palisadeStart();
  tell();
});

// The frame is as high as its content.
const tell = () => parent.postMessage({ height: document.documentElement.scrollHeight }, "*");
new ResizeObserver(tell).observe(document.body);
parent.postMessage({ ready: true }, "*");
