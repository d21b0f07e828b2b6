/** How often a property is tried: a quarter of the times in `npm test` without names of files, all of them elsewhere. */
export const runs = (full: number): number => (process.env.TEST_QUICK === '1' ? Math.ceil(full / 4) : full)
