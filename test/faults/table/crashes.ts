import type { Fault } from '../table.ts'

/** What happens to the service, its database, its machine and its clock. */
export const crashes: Fault[] = [
  {
    number: 1,
    fault: 'kill -9 after a claim, before the POST',
    promise: 'sent when the lease is over, once; the attempt is listed as interrupted and uses up no try',
    tests: {
      'test/faults/kill.fault.ts': [
        'killed after a claim and before the POST: the delivery is sent once, when the lease is over, and no try is used',
      ],
      'src/webhooks/delivery/queue.test.ts': [
        'a lease that ends makes the delivery due again; its attempt is listed as interrupted and is no try',
      ],
      'test/sqlite/interrupted.test.ts': [
        'an attempt that kill -9 interrupts is listed as interrupted, neither counted nor used up',
      ],
    },
  },
  {
    number: 2,
    fault: 'kill -9 after the receiver answered, before the commit',
    promise: 'sent again: same delivery id, same bytes, ends succeeded; never 0 times',
    tests: {
      'test/faults/kill.fault.ts': [
        'killed when the receiver has answered, before that is written down: sent again with the same id and bytes',
      ],
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 3,
    fault: 'kill -9 of the API inside a write',
    promise: 'record and event exist both or neither; a repetition with the same key finds one record',
    tests: {
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 4,
    fault: 'SIGTERM under load',
    promise: '503 with Retry-After at once, what is in flight ends within 15 s, exit 0; 0 lost, 0 twice',
    tests: {
      'test/faults/kill.fault.ts': [
        'a stop under load: what was acknowledged is delivered once, and the process ends with 0 in time',
      ],
      'test/faults/stop.test.ts': [
        'while it stops, readiness and every request are 503, and what is in flight is finished',
      ],
      'src/webhooks/delivery/dispatcher.test.ts': ['a stop in the middle of a claim gives it back unused'],
    },
  },
  {
    number: 5,
    fault: 'the database restarts while there is traffic',
    promise: '503 with Retry-After, no 2xx without a commit; all works 5 s after it is back, no restart',
    tests: {
      'test/postgres/recovery.test.ts': [
        'while the database is away (… shutdown) all is 503 in time; once it is back all works, without a restart',
      ],
      'src/webhooks/delivery/dispatcher.test.ts': [
        'an outcome that the database does not take is written down when it does again',
      ],
    },
  },
  {
    number: 6,
    fault: 'the database hangs, or another program holds it',
    promise: '503 with Retry-After within 6 s; the service says that it is not ready, and recovers alone',
    tests: {
      'test/postgres/recovery.test.ts': [
        'a database that hangs is as one that is away, also one that never comes back to an open connection',
      ],
      'test/http-faults.test.ts': [
        'when another program holds the database for 5 seconds, all waiting writes are 503 with Retry-After, and nothing is half done',
      ],
    },
  },
  {
    number: 7,
    fault: 'the disk is full',
    promise: 'writes are 503, reads work, nothing is half done; heals when there is room again',
    tests: {
      'test/faults/disk.fault.ts': [
        'a real full disk: writes are 503 and leave nothing, reads work, and all heals when there is room',
      ],
      'test/sqlite/full.test.ts': [
        'when the database is full, writes are 503 and nothing is half done; those that share the commit are told too',
      ],
    },
  },
  {
    number: 8,
    fault: 'deadlock, serialization failure, another writer',
    promise: 'the transaction is done again, at most 3 times, then 503; nothing is stored twice',
    tests: {
      'test/postgres/locks.test.ts': [
        'two transactions that wait for each other both succeed, one of them by doing its work again',
        'work that meets with others is done again three times, and then refused with 503, with nothing stored',
      ],
      'test/http-faults.test.ts': [
        'while another program writes for a moment, writes wait for it and reads do not',
      ],
    },
  },
  {
    number: 9,
    fault: 'power cut',
    promise: 'every acknowledged write and its event is there',
    tests: {
      'test/faults/power.fault.ts': [
        'a power cut loses no acknowledged write and no event of one',
        'without syncs the same power cut loses writes: the disk of this test forgets',
      ],
      'test/sqlite/durability.test.ts': [
        'the connection that writes syncs every commit, keeps a log, holds references, and leaves waiting to the groups',
        'what a connection that writes with synchronous = … would lose is told',
      ],
      'test/postgres/durability.test.ts': [
        'a server that commits asynchronously does not do so for the service; stricter settings stay',
        'a server with … = off is told in the log and in /metrics, and the service serves',
      ],
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 22,
    fault: 'the schedule of retries',
    promise:
      '1, 5 and 30 minutes after the previous attempt ended, never early; then failed, the webhook too',
    tests: {
      'test/webhooks-retries.test.ts': [
        'come 1, 5 and 30 minutes after the previous attempt ended, to the millisecond, and then no more',
        'after the last one the delivery is failed and the webhook too, with the reason',
        'survive a restart: neither early nor lost, and the attempts before it count',
      ],
      'src/webhooks/delivery/schedule.test.ts': [
        'a retry is never early and there are exactly as many retries as delays',
      ],
    },
  },
  {
    number: 23,
    fault: "the machine's clock jumps by an hour",
    promise:
      'no retry early or late, no second attempt at once, no lease for longer; nothing is removed by it',
    tests: {
      'test/webhooks-retries.test.ts': [
        'a clock that jumps far ahead during an attempt starts no second one',
      ],
      'src/db/engines/postgres/clock.test.ts': [
        'processes whose clocks are an hour ahead and an hour behind agree about retries, times and signatures',
      ],
      'test/clock.test.ts': [
        'a clock that is set an hour … changes nothing of a retry, a replay, a rate limit or a wait',
        'a retry is due 60 s after the attempt although the clock is set an hour … between two starts',
        'a start 40 days ahead removes nothing, and a day of life later it does',
      ],
      'test/faults/clock.fault.ts': [
        'a retry comes 12 s after its attempt, though the clock is set an hour … in between',
        'a start 40 days ahead keeps the trash and the log until `rapport clock confirm`',
        'the lease of a worker that died ends in its time, though the clock is set an hour back',
      ],
    },
  },
  {
    number: 24,
    fault: 'SIGSTOP of a worker until its lease is over, then SIGCONT',
    promise: 'its late outcome changes nothing: the new owner’s stands',
    tests: {
      'src/webhooks/delivery/queue.test.ts': [
        'a late outcome of a lease that another owner took over changes nothing',
      ],
      'test/faults/stopped.fault.ts': [
        'SIGSTOP of a worker past its lease, then SIGCONT: its late outcome changes nothing',
      ],
    },
  },
  {
    number: 25,
    fault: 'several workers claim at once',
    promise: 'no delivery is claimed twice',
    tests: {
      'src/webhooks/delivery/queue.test.ts': ['owners that claim at once never get the same delivery'],
      'src/webhooks/delivery/dispatcher.test.ts': ['two dispatchers on one database send each delivery once'],
    },
  },
  {
    number: 28,
    fault: 'a webhook is deleted or paused while work is pending',
    promise: 'deleted: pending is cancelled, nothing is sent after the 200; paused: kept, and sent on resume',
    tests: {
      'test/webhooks-pause-delete.test.ts': [
        'cancels what is pending: the log keeps it as cancelled, finished, with nothing to come',
        'nothing is posted after the 200, even in the middle of a burst',
        'nothing is posted after the 200 of a pause, and all of it after the resume',
      ],
      'src/events/emit.test.ts': [
        'a change that is under way while a webhook is deleted leaves no delivery that nobody ends',
      ],
      'test/faults/long-backlogs.fault.ts': [
        'a webhook with 200,000 pending deliveries is deleted at once, and kill -9 in the middle leaves nothing pending',
        '200,000 failed deliveries are promised at once, and kill -9 in the middle neither loses nor doubles one',
      ],
    },
  },
  {
    number: 29,
    fault: 'the secret is rotated between two attempts',
    promise: 'same body, signed with the secrets of its own time; old and new both verify in the overlap',
    tests: {
      'test/webhooks-rotation.test.ts': [
        'a retry is signed with the secrets of its own time, over the same body',
        'during the overlap a receiver with the old secret and one with the new both verify; then the new alone',
      ],
    },
  },
  {
    number: 30,
    fault: 'a delivery that cannot be made, or ends the process; payloads larger than the memory',
    promise:
      'fails by itself (after 5 crashes alone: `interrupted`) and stops no other; all are delivered in 256 MB',
    tests: {
      'src/webhooks/delivery/dispatcher.test.ts': [
        'a delivery that cannot even be made fails by itself and stops no other',
        'an outcome that the database refuses stops no other, and is kept as an attempt without its answer',
      ],
      'src/webhooks/delivery/interruptions.test.ts': [
        'a delivery that ends the process five times alone in flight is failed, and bystanders are delivered',
        'after a crash one attempt is in flight at a time until all that it interrupted are tried, then more',
        'stops do not count, however often one cuts an attempt short; neither do outcomes',
      ],
      'test/faults/poison.fault.ts': [
        'a delivery that ends the process is failed as interrupted after five times alone; all others arrive',
      ],
      'test/faults/memory.fault.ts': [
        '60 webhooks and 20 updates of 0.4 MB are all delivered within … MB of memory',
      ],
    },
  },
  {
    number: 32,
    fault: 'a transaction of another program stays open for minutes (OPEN_SECONDS=600: for ten)',
    promise: 'deliveries go on as quickly as without it',
    tests: {
      'test/faults/open-transaction.fault.ts': [
        'a transaction that stays open in another program slows no delivery down',
      ],
    },
  },
]
