/**
 * Whether `npm test` runs all files. Then a property is tried less often, and sweeps and timings do a part of their work. The rest is
 * for `npm run test:all`.
 */
export const quick = process.env.TEST_QUICK === '1'

/** How often a property is tried. */
export const runs = (full: number): number => (quick ? Math.ceil(full / 4) : full)
