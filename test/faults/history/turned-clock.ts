import { readFileSync } from 'node:fs'

// Loaded into the service before anything else: its wall clock is as far ahead as the file says, also when that changes.
const file = process.env.TURNED_CLOCK

if (file) {
  const RealDate = Date
  let ahead_ms = 0
  const read = () => {
    ahead_ms = Number(readFileSync(file, 'utf8')) || 0
  }
  read()
  setInterval(read, 100).unref()
  globalThis.Date = class extends RealDate {
    constructor(...given: []) {
      if (given.length) super(...given)
      else super(RealDate.now() + ahead_ms)
    }
    static override now = () => RealDate.now() + ahead_ms
  } as DateConstructor
}
