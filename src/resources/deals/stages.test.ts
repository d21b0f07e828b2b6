// runs: once
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  type DealInput,
  type DealState,
  type DealWrite,
  decide,
  defaultProbabilities,
  type Stage,
  shownProbability,
  stages,
  statusOf,
} from './stages.ts'

const monday = '2026-11-23T09:00:00.000Z'
const tuesday = '2026-11-24T09:00:00.000Z'
const openStages = stages.filter((stage) => statusOf(stage) === 'open')

function accept(current: DealState | null, input: DealInput, operation: DealWrite, now = monday) {
  const decision = decide(current, input, { now, operation })
  assert.equal(decision.problems, undefined, JSON.stringify(decision.problems))
  return decision
}

const create = (input: DealInput, now?: string) => accept(null, input, 'create', now).state
const put = (deal: DealState, input: DealInput, now?: string) => accept(deal, input, 'update', now).state
const change = (deal: DealState, input: DealInput, now?: string) =>
  accept(deal, input, 'change_stage', now).state

/** The refused fields with their codes, such as ['lost_reason required']. */
function refusals(current: DealState | null, input: DealInput, operation: DealWrite): string[] {
  const { problems = [] } = decide(current, input, { now: monday, operation })
  return problems.map(({ field, code }) => `${field} ${code}`)
}

const open = (input: DealInput = {}) => create({ stage: 'qualification', ...input })
const lost = (reason = 'Price') => change(open(), { stage: 'lost', lost_reason: reason })

describe('stage and status', () => {
  test('a deal starts as a new lead when the stage is absent or null', () => {
    assert.equal(create({}).stage, 'new_lead')
    assert.equal(create({ stage: null }).stage, 'new_lead')
  })

  test('status is won in won, lost in lost and open in every other stage', () => {
    assert.equal(statusOf('won'), 'won')
    assert.equal(statusOf('lost'), 'lost')
    assert.equal(openStages.length, 6)
  })

  test('any stage may move to any stage, by PUT and by change-stage', () => {
    for (const from of stages) {
      for (const to of stages) {
        const lost_reason = to === 'lost' ? 'Price' : undefined
        assert.equal(put(create({ stage: from }), { stage: to, lost_reason }).stage, to)
        assert.equal(change(create({ stage: from }), { stage: to, lost_reason }).stage, to)
      }
    }
  })

  test('an unknown stage is refused in every operation and the message lists the codes', () => {
    for (const [deal, operation] of [
      [null, 'create'],
      [open(), 'update'],
      [open(), 'change_stage'],
    ] as const) {
      assert.deepEqual(refusals(deal, { stage: 'Won' }, operation), ['stage unknown_value'])
      const { problems = [] } = decide(deal, { stage: 'toString' }, { now: monday, operation })
      for (const stage of stages) assert.match(problems[0]?.message ?? '', new RegExp(`\\b${stage}\\b`))
    }
  })

  test('change-stage requires a stage; in a PUT it may be absent but not null', () => {
    assert.deepEqual(refusals(open(), { probability: 5 }, 'change_stage'), ['stage required'])
    assert.deepEqual(refusals(open(), { stage: null }, 'change_stage'), ['stage required'])
    assert.deepEqual(refusals(open(), { stage: null }, 'update'), ['stage required'])
    assert.deepEqual(put(open(), {}), open())
  })

  test('the previous stage is returned exactly when the stage changed', () => {
    const moved = accept(open(), { stage: 'demo' }, 'change_stage')
    assert.equal(moved.previous_stage, 'qualification')
    assert.equal(accept(open(), { stage: 'qualification' }, 'change_stage').previous_stage, null)
    assert.equal(accept(open(), { stage: 'qualification' }, 'update').previous_stage, null)
    assert.equal(accept(null, { stage: 'demo' }, 'create').previous_stage, null)
  })

  test('entered names won or lost on the way in only, from creation and from the other outcome too', () => {
    const won = create({ stage: 'won' })
    assert.equal(accept(null, { stage: 'won' }, 'create').entered, 'won')
    assert.equal(accept(null, { stage: 'demo' }, 'create').entered, null)
    assert.equal(accept(open(), { stage: 'won' }, 'update').entered, 'won')
    assert.equal(accept(won, { stage: 'won' }, 'change_stage').entered, null)
    assert.equal(accept(won, { stage: 'lost', lost_reason: 'Cancelled' }, 'change_stage').entered, 'lost')
    assert.equal(accept(won, { stage: 'demo' }, 'change_stage').entered, null)
  })
})

describe('probability', () => {
  test('a deal without a value shows the default of its stage and follows it from stage to stage', () => {
    const defaults: Record<Stage, number> = {
      new_lead: 10,
      qualification: 20,
      demo: 40,
      proposal: 60,
      negotiation: 80,
      verbal_commitment: 90,
      won: 100,
      lost: 0,
    }
    for (const stage of stages) {
      assert.equal(shownProbability(create({ stage })), defaults[stage])
      const lost_reason = stage === 'lost' ? 'Price' : undefined
      assert.equal(shownProbability(change(create({}), { stage, lost_reason })), defaults[stage])
    }
  })

  test('a value sent always wins, zero included, and stays through open stages', () => {
    assert.equal(shownProbability(open({ probability: 0 })), 0)
    assert.equal(shownProbability(create({ stage: 'won', probability: 70 })), 70)
    assert.equal(shownProbability(put(open(), { probability: 33 })), 33)
    assert.equal(shownProbability(change(put(open(), { probability: 33 }), { stage: 'proposal' })), 33)
    assert.equal(shownProbability(change(open(), { stage: 'won', probability: 95 })), 95)
  })

  test('entering won or lost without a value shows 100 or 0 whatever was sent before', () => {
    const own = open({ probability: 33 })
    assert.equal(shownProbability(change(own, { stage: 'won' })), 100)
    assert.equal(shownProbability(put(own, { stage: 'lost', lost_reason: 'Price' })), 0)
  })

  test('a value sent while closed holds while closed, and won <-> lost without one is 100 or 0 again', () => {
    const won = put(create({ stage: 'won' }), { probability: 95 })
    assert.equal(shownProbability(change(won, { stage: 'won' })), 95)
    const turned = change(won, { stage: 'lost', lost_reason: 'Cancelled' })
    assert.equal(shownProbability(turned), 0)
    assert.equal(shownProbability(change(turned, { stage: 'won' })), 100)
  })

  test('reopening shows the last value from when the deal was open, else the default', () => {
    const won = put(change(open({ probability: 33 }), { stage: 'won', probability: 95 }), { probability: 96 })
    assert.equal(shownProbability(change(won, { stage: 'demo' })), 33)
    assert.equal(shownProbability(change(won, { stage: 'demo', probability: 50 })), 50)
    assert.equal(shownProbability(change(create({ stage: 'won', probability: 95 }), { stage: 'demo' })), 40)
    const reopened = change(won, { stage: 'demo' })
    assert.equal(shownProbability(change(reopened, { stage: 'won' })), 100)
  })

  test('null clears the value: to the default, and while closed only the value sent while closed', () => {
    assert.equal(shownProbability(put(open({ probability: 33 }), { probability: null })), 20)
    const cleared = change(open({ probability: 33 }), { stage: 'qualification', probability: null })
    assert.equal(shownProbability(cleared), 20)
    const won = change(open({ probability: 33 }), { stage: 'won', probability: 95 })
    assert.equal(shownProbability(put(won, { probability: null })), 100)
    assert.equal(shownProbability(change(put(won, { probability: null }), { stage: 'demo' })), 33)
    assert.equal(shownProbability(create({ probability: null })), 10)
  })

  test('a PUT with the shown probability leaves a default a default, also beside a new stage', () => {
    assert.deepEqual(put(open(), { probability: 20 }), open())
    assert.equal(shownProbability(put(open(), { stage: 'demo', probability: 20 })), 40)
    assert.equal(shownProbability(put(open({ probability: 33 }), { stage: 'won', probability: 33 })), 100)
    assert.equal(shownProbability(put(lost(), { stage: 'demo', probability: 0, lost_reason: 'Price' })), 40)
  })

  test('in change-stage a sent probability becomes the own value even when it equals the shown one', () => {
    const own = change(open(), { stage: 'qualification', probability: 20 })
    assert.equal(shownProbability(change(own, { stage: 'demo' })), 20)
  })
})

describe('lost reason', () => {
  test('creation accepts no reason, not even in stage lost, but accepts null', () => {
    assert.deepEqual(refusals(null, { stage: 'lost', lost_reason: 'Price' }, 'create'), [
      'lost_reason not_allowed',
    ])
    assert.deepEqual(refusals(null, { lost_reason: 'Price' }, 'create'), ['lost_reason not_allowed'])
    assert.equal(create({ stage: 'lost' }).lost_reason, null)
    assert.equal(create({ stage: 'lost', lost_reason: null }).lost_reason, null)
  })

  test('entering lost needs a reason in the body, by change-stage and by PUT', () => {
    for (const operation of ['update', 'change_stage'] as const) {
      for (const deal of [open(), create({ stage: 'won' })]) {
        assert.deepEqual(refusals(deal, { stage: 'lost' }, operation), ['lost_reason required'])
        assert.deepEqual(refusals(deal, { stage: 'lost', lost_reason: null }, operation), [
          'lost_reason required',
        ])
        assert.equal(
          accept(deal, { stage: 'lost', lost_reason: 'Price' }, operation).state.lost_reason,
          'Price',
        )
      }
    }
  })

  test('change-stage from lost to lost keeps the reason without one and takes a new one', () => {
    assert.deepEqual(change(lost(), { stage: 'lost' }, tuesday), lost())
    assert.deepEqual(change(lost(), { stage: 'lost', lost_reason: null }, tuesday), lost())
    assert.deepEqual(change(lost(), { stage: 'lost', lost_reason: 'Timing' }, tuesday), lost('Timing'))
    const unexplained = create({ stage: 'lost' })
    assert.deepEqual(change(unexplained, { stage: 'lost' }, tuesday), unexplained)
  })

  test('change-stage to any other stage refuses a reason, even the stored one, and accepts null', () => {
    for (const stage of stages.filter((code) => code !== 'lost')) {
      assert.deepEqual(refusals(lost(), { stage, lost_reason: 'Price' }, 'change_stage'), [
        'lost_reason not_allowed',
      ])
      assert.equal(change(lost(), { stage, lost_reason: null }).lost_reason, null)
    }
  })

  test('leaving lost clears the reason', () => {
    for (const stage of stages.filter((code) => code !== 'lost')) {
      assert.equal(change(lost(), { stage }).lost_reason, null)
      assert.equal(put(lost(), { stage }).lost_reason, null)
    }
  })

  test('a PUT with a new stage accepts the unchanged reason and clears it, but no other reason', () => {
    assert.equal(put(lost(), { stage: 'demo', lost_reason: 'Price' }).lost_reason, null)
    assert.equal(put(lost(), { stage: 'won', lost_reason: 'Price' }).lost_reason, null)
    assert.equal(put(lost(), { stage: 'demo', lost_reason: null }).lost_reason, null)
    assert.deepEqual(refusals(lost(), { stage: 'demo', lost_reason: 'Timing' }, 'update'), [
      'lost_reason not_allowed',
    ])
  })

  test('a PUT without a new stage changes the reason of a lost deal but never erases it', () => {
    for (const stage of [undefined, 'lost']) {
      assert.deepEqual(put(lost(), { stage, lost_reason: 'Timing' }, tuesday), lost('Timing'))
      assert.deepEqual(refusals(lost(), { stage, lost_reason: null }, 'update'), ['lost_reason required'])
    }
    const unexplained = create({ stage: 'lost' })
    assert.deepEqual(put(unexplained, { lost_reason: null }), unexplained)
    assert.equal(put(unexplained, { lost_reason: 'Price' }).lost_reason, 'Price')
  })

  test('a PUT without a stage on a deal that is not lost accepts only null', () => {
    for (const deal of [open(), create({ stage: 'won' })]) {
      assert.deepEqual(put(deal, { lost_reason: null }), deal)
      assert.deepEqual(refusals(deal, { lost_reason: 'Price' }, 'update'), ['lost_reason not_allowed'])
    }
  })

  test('beside an unknown stage a reason on an existing deal is not judged', () => {
    for (const operation of ['update', 'change_stage'] as const) {
      assert.deepEqual(refusals(open(), { stage: 'sold', lost_reason: 'Price' }, operation), [
        'stage unknown_value',
      ])
    }
  })

  test('a bad stage and a reason on creation are reported at once', () => {
    assert.deepEqual(refusals(null, { stage: 'sold', lost_reason: 'Price' }, 'create'), [
      'stage unknown_value',
      'lost_reason not_allowed',
    ])
  })
})

describe('closing time', () => {
  test('it is set on creation in won or lost and on entering them, and null in every open stage', () => {
    assert.equal(create({ stage: 'won' }, monday).closed_at, monday)
    assert.equal(create({ stage: 'lost' }, monday).closed_at, monday)
    assert.equal(change(open(), { stage: 'won' }, tuesday).closed_at, tuesday)
    assert.equal(put(open(), { stage: 'lost', lost_reason: 'Price' }, tuesday).closed_at, tuesday)
    assert.equal(create({}).closed_at, null)
    assert.equal(change(lost(), { stage: 'demo' }, tuesday).closed_at, null)
  })

  test('it is set anew between won and lost and stays while the stage stays', () => {
    const won = create({ stage: 'won' }, monday)
    assert.equal(change(won, { stage: 'lost', lost_reason: 'Cancelled' }, tuesday).closed_at, tuesday)
    assert.equal(change(won, { stage: 'won', probability: 90 }, tuesday).closed_at, monday)
    assert.equal(put(won, { stage: 'won' }, tuesday).closed_at, monday)
    assert.equal(put(lost(), { lost_reason: 'Timing' }, tuesday).closed_at, monday)
  })
})

describe('any sequence of operations', () => {
  const input = fc.record(
    {
      stage: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...stages) }, fc.constantFrom('sold', null)),
      // Few values, so that a sent one often equals the shown one and the default.
      probability: fc.constantFrom(null, 0, 10, 20, 33, 40, 100),
      lost_reason: fc.constantFrom(null, null, 'Price', 'Timing', 'x'.repeat(256)),
    },
    { requiredKeys: [] },
  )
  const sequence = fc.tuple(
    input,
    fc.array(fc.tuple(fc.constantFrom('update' as const, 'change_stage' as const), input), { maxLength: 12 }),
  )

  /** Runs a sequence at a new `now` for each step and hands every accepted decision to `check`. */
  function replay(
    [first, rest]: [DealInput, (readonly [DealWrite, DealInput])[]],
    check: (
      step: {
        operation: DealWrite
        input: DealInput
        before: DealState | null
        now: string
      } & ReturnType<typeof accept>,
    ) => void,
  ) {
    let current: DealState | null = null
    for (const [index, [operation, sent]] of [['create', first] as const, ...rest].entries()) {
      const now = new Date(Date.UTC(2026, 10, 23, 9, index)).toISOString()
      const frozen = current && Object.freeze(current)
      const decision = decide(frozen, sent, { now, operation })
      if (decision.problems === undefined) {
        check({ ...decision, operation, input: sent, before: current, now })
        current = decision.state
      } else {
        assert.notEqual(decision.problems.length, 0)
        if (current === null) return
      }
    }
  }

  test('keeps status, closing time, reason and probability in line with the stage', () => {
    fc.assert(
      fc.property(sequence, (operations) => {
        replay(operations, ({ state }) => {
          const isOpen = statusOf(state.stage) === 'open'
          assert.equal(state.closed_at === null, isOpen)
          if (isOpen) assert.equal(state.closed_probability, null)
          if (state.stage !== 'lost') assert.equal(state.lost_reason, null)
          const shown = shownProbability(state)
          assert.ok(Number.isInteger(shown) && shown >= 0 && shown <= 100)
        })
      }),
    )
  })

  test('tells of a stage change and an entry exactly when the stage differs from before', () => {
    fc.assert(
      fc.property(sequence, (operations) => {
        replay(operations, ({ state, before, now, previous_stage, entered }) => {
          const moved = before?.stage !== state.stage
          assert.equal(previous_stage, before !== null && moved ? before.stage : null)
          assert.equal(entered, moved && statusOf(state.stage) !== 'open' ? state.stage : null)
          if (entered) assert.equal(state.closed_at, now)
          else if (before && statusOf(state.stage) !== 'open') assert.equal(state.closed_at, before.closed_at)
        })
      }),
    )
  })

  test('what is shown, put back whole or in part, changes nothing', () => {
    fc.assert(
      fc.property(sequence, fc.subarray(['stage', 'probability', 'lost_reason']), (operations, keys) => {
        replay(operations, ({ state }) => {
          const shown = { ...state, probability: shownProbability(state) }
          const sent = Object.fromEntries(Object.entries(shown).filter(([key]) => keys.includes(key)))
          assert.deepEqual(accept(state, sent, 'update', tuesday), {
            state,
            previous_stage: null,
            entered: null,
          })
          assert.deepEqual(change(state, { stage: state.stage, lost_reason: state.lost_reason }), state)
        })
      }),
    )
  })

  test('shows the probability that the history of sent values calls for', () => {
    fc.assert(
      fc.property(sequence, (operations) => {
        const history: { stage: Stage; sent: number | null | undefined }[] = []
        replay(operations, ({ state, input: { probability }, before, operation }) => {
          const readBack = operation === 'update' && before && probability === shownProbability(before)
          history.push({ stage: state.stage, sent: readBack ? undefined : probability })
          // An open deal looks back over all its open days, a closed one only over its unbroken stay.
          const stay = history.slice(history.findLastIndex(({ stage }) => stage !== state.stage) + 1)
          const openDays = history.filter(({ stage }) => statusOf(stage) === 'open')
          const counted = statusOf(state.stage) === 'open' ? openDays : stay
          const last = counted.findLast(({ sent }) => sent !== undefined)?.sent
          assert.equal(shownProbability(state), last ?? defaultProbabilities[state.stage])
        })
      }),
      { numRuns: 500 },
    )
  })
})
