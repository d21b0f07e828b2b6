import type { Program } from './program.ts'

/** The programs whose files Rapport recognises. */
export const programs: readonly Program[] = []
