// What the extension asks the command for: apart from the editor, so that it can be tested without one.

/** The arguments that draw the run of a violation into a page. */
export function pictureArguments(file: string, page: string): string[] {
  return ["check", file, "--picture", page, "--timeout", "20s"];
}

/** The arguments that write the report with the player. */
export function reportArguments(file: string, page: string): string[] {
  return ["report", file, "-o", page];
}

/** What to tell the user about an exit status of `palisade check`. */
export function verdictOfStatus(status: number | null): string {
  switch (status) {
    case 0:
      return "It holds: there is no run to show.";
    case 1:
      return "It is violated.";
    case 3:
      return "It is not decided within the limits.";
    default:
      return "The program cannot be analysed.";
  }
}
