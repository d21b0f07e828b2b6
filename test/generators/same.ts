import assert from 'node:assert/strict'

/** Where a client calls. */
export type Where = { url: string; key: string }

export const same = (found: unknown, wanted: unknown): void => assert.deepEqual(found, wanted)
