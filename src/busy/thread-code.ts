/** The code of the thread, as CommonJS. A release has another module in this place, with the bundled code. */
export const threadCode = async (): Promise<string> =>
  `void import(${JSON.stringify(import.meta.resolve('./thread.ts'))})`
