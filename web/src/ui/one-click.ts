/** The handler of a click that runs once for a double click: the second click may come before the page has changed. */
export const oneClick =
  (run: () => unknown) =>
  ({ detail }: { detail: number }): void => {
    if (detail < 2) run()
  }
