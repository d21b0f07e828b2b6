// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ClockReading, day_ms, firstSign, judge, type Known, type Sign } from './clock-sign.ts'

const hour_ms = 3600 * 1000
const wall_ms = Date.parse('2026-11-21T08:30:00.000Z')
const start: Sign = {
  wall_ms,
  offset_ms: 0,
  boot: 'a',
  steady_ms: 5000,
  held_until_ms: 0,
  reason: null,
}
const known: Known = { elapsed_ms: wall_ms, steady_ms: 5000, offset_ms: 0 }

/** The judgement of a clock that was set by `set_ms` while `passed_ms` passed. */
function after(passed_ms: number, set_ms: number, process: Known | null, boot: string | null = 'a') {
  const now: ClockReading = { wall_ms: wall_ms + passed_ms + set_ms, steady_ms: 5000 + passed_ms, boot }
  const { sign, elapsed_ms } = judge(start, process, now)
  return { passed_ms: elapsed_ms - wall_ms, held: sign.held_until_ms > elapsed_ms, sign, elapsed_ms }
}

describe('service time', () => {
  test('goes on by what has passed, whatever the clock of a running process is set to', () => {
    for (const set_ms of [hour_ms, -hour_ms, 40 * day_ms, -40 * day_ms, 1000, -1000])
      assert.equal(after(10_000, set_ms, known).passed_ms, 10_000, `${set_ms}`)
  })

  test('goes on over a restart of the program, although the clock was set meanwhile', () => {
    for (const set_ms of [hour_ms, -hour_ms, 40 * day_ms, -40 * day_ms])
      assert.equal(after(10_000, set_ms, null).passed_ms, 10_000, `${set_ms}`)
  })

  test('goes on by the clock after a restart of the machine, and never back or by more than a day', () => {
    assert.equal(after(0, hour_ms, null, 'b').passed_ms, hour_ms)
    assert.equal(after(0, -hour_ms, null, 'b').passed_ms, 0)
    assert.equal(after(0, day_ms + 1, null, 'b').passed_ms, 0)
    assert.equal(after(0, hour_ms, null, null).passed_ms, hour_ms, 'where no system tells its boots')
  })

  test('follows a clock that is slewed by at most 5 ms for each look', () => {
    assert.equal(after(10_000, 3, known).passed_ms, 10_003)
    assert.equal(after(10_000, 400, known).passed_ms, 10_005)
    assert.equal(after(10_000, -400, known).passed_ms, 9_995)
  })

  test('is the same for two processes when one of them has judged first, whichever', () => {
    const first = judge(start, known, { wall_ms: wall_ms + 10_000 + hour_ms, steady_ms: 15_000, boot: 'a' })
    const second = judge(
      first.sign,
      { ...known, steady_ms: 777 },
      {
        wall_ms: wall_ms + 12_000 + hour_ms,
        steady_ms: 12_777,
        boot: 'b',
      },
    )
    assert.equal(second.elapsed_ms - wall_ms, 12_000)
    assert.equal(second.sign.offset_ms, first.sign.offset_ms)
  })
})

describe('removal', () => {
  test('is held by a clock that went back by more than a minute, or forward by more than a day', () => {
    for (const process of [known, null]) {
      for (const set_ms of [-61_000, -hour_ms, -40 * day_ms, day_ms + 1, 40 * day_ms])
        assert.equal(after(0, set_ms, process).held, true, `${set_ms}`)
      for (const set_ms of [0, -59_000, 59_000, hour_ms, day_ms - 1])
        assert.equal(after(0, set_ms, process).held, false, `${set_ms}`)
    }
  })

  test('is held after a downtime of more than a day, but not after a day of life without a look', () => {
    assert.equal(after(40 * day_ms, 0, null).held, true)
    assert.equal(after(2 * day_ms, 0, known).held, false)
  })

  test('is held by the newest event of an older version, whose times by the wall clock stay what they are', () => {
    const now: ClockReading = { wall_ms, steady_ms: 5000, boot: 'a' }
    for (const [newest_ms, held] of [
      [null, false],
      [wall_ms - hour_ms, false],
      [wall_ms - 3 * day_ms, true],
      [wall_ms + hour_ms, true],
    ] as const) {
      const { sign, elapsed_ms } = judge(firstSign(newest_ms, now), null, now)
      assert.deepEqual([elapsed_ms, sign.offset_ms], [wall_ms, 0])
      assert.equal(sign.held_until_ms, held ? wall_ms + day_ms : 0)
    }
  })

  test('is held for a day of service time', () => {
    const { sign, elapsed_ms } = after(0, 40 * day_ms, known)
    assert.equal(sign.held_until_ms, elapsed_ms + day_ms)
    assert.match(String(sign.reason), /says 2026-12-31T.*sign of life is from 2026-11-21T/)
  })
})
