import type { Fault } from '../table.ts'

/** Faults of the service, its database, its machine and its clock. */
export const crashes: Fault[] = [
  {
    number: 1,
    fault: '`kill -9` after a claim, before the POST',
    promise:
      'The delivery is sent once, when the lease ends. The log lists the attempt as interrupted, and it does not count as a try.',
    tests: {
      'test/faults/kill.fault.ts': [
        'killed after a claim and before the POST: the delivery is sent once, when the lease ends, and no try is counted',
      ],
      'src/webhooks/delivery/queue.test.ts': [
        'an expired lease makes the delivery due again; its attempt is listed as interrupted and does not count as a try',
      ],
      'test/sqlite/interrupted.test.ts': [
        'an attempt that kill -9 interrupts is listed as interrupted, and does not count as an attempt or a try',
      ],
    },
  },
  {
    number: 2,
    fault: '`kill -9` after the receiver answered, before the commit',
    promise:
      'The delivery is sent again with the same delivery id and the same bytes, and succeeds. It is never sent 0 times.',
    tests: {
      'test/faults/kill.fault.ts': [
        'killed after the answer of the receiver and before the commit: sent again with the same id and bytes',
      ],
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 3,
    fault: '`kill -9` of an API process during a write',
    promise:
      'The record and its event exist together, or neither exists. A repeated request with the same key finds one record.',
    tests: {
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 4,
    fault: 'SIGTERM under load',
    promise:
      'New requests get 503 with `Retry-After` at once. Requests and attempts in flight end within 15 s. The exit code is 0. No event is lost or sent twice.',
    tests: {
      'test/faults/kill.fault.ts': [
        'a stop under load: acknowledged events are delivered once, and the process exits with 0 in time',
      ],
      'test/faults/stop.test.ts': [
        'during a stop, readiness and every request are 503, and requests in flight end',
      ],
      'src/webhooks/delivery/dispatcher.test.ts': ['a stop in the middle of a claim gives it back unused'],
    },
  },
  {
    number: 5,
    fault: 'The database restarts under load.',
    promise:
      'Requests get 503 with `Retry-After`. No request gets 2xx without a commit. Everything works 5 s after the restart, and Rapport does not restart.',
    tests: {
      'test/postgres/recovery.test.ts': [
        'while the database is away (… shutdown) all is 503 in time; once it is back all works, without a restart',
      ],
      'src/webhooks/delivery/dispatcher.test.ts': [
        'an outcome is stored when the database is available again',
      ],
    },
  },
  {
    number: 6,
    fault: 'The database hangs, or another program holds its lock.',
    promise: 'Requests get 503 with `Retry-After` within 6 s. Readiness fails. Rapport recovers by itself.',
    tests: {
      'test/postgres/recovery.test.ts': [
        'a database that hangs counts as unavailable, also if it never answers an open connection again',
      ],
      'test/http/faults.test.ts': [
        'when another program locks the database for 5 seconds, all waiting writes are 503 with Retry-After, and store nothing',
      ],
    },
  },
  {
    number: 7,
    fault: 'The disk is full.',
    promise:
      'Writes get 503, and reads work. No change is stored in part. Writes succeed again when the disk has space.',
    tests: {
      'test/faults/disk.fault.ts': [
        'a real full disk: writes are 503 and leave nothing, reads work, and writes work again when there is space',
      ],
      'test/sqlite/full.test.ts': [
        'when the database is full, all writes that share the commit are 503, and store nothing',
      ],
    },
  },
  {
    number: 8,
    fault: 'Deadlock, serialization failure, or a concurrent writer',
    promise: 'The transaction is retried at most 3 times. Then the answer is 503. Nothing is stored twice.',
    tests: {
      'test/postgres/conflicts.test.ts': [
        'two transactions that deadlock both succeed, one of them after a retry',
        'a transaction that conflicts is retried three times, and then refused with 503, with nothing stored',
      ],
      'test/http/faults.test.ts': ['while another program writes, writes wait for it and reads do not'],
    },
  },
  {
    number: 9,
    fault: 'Power cut',
    promise: 'Every acknowledged write and its event are stored.',
    tests: {
      'test/faults/power.fault.ts': [
        'a power cut loses no acknowledged write and no event of one',
        'without syncs, the same power cut loses writes, so the disk of this test works',
      ],
      'test/sqlite/durability.test.ts': [
        'the connection that writes syncs every commit, keeps a write-ahead log, checks foreign keys, and leaves waiting for locks to the commit groups',
        'what a connection that writes with synchronous = … would lose is told',
      ],
      'test/postgres/durability.test.ts': [
        'the service commits synchronously on a server with asynchronous commits; stricter settings stay',
        'a server with … = off is told in the log and in /metrics, and the service serves',
      ],
      'test/faults/history.test.ts': [
        'five kills among random operations, with restarts and clock jumps: every promise holds in the history',
      ],
    },
  },
  {
    number: 22,
    fault: 'Schedule of retries',
    promise:
      'Retries are sent 1, 5 and 30 minutes after the previous attempt ended, never earlier. Then the delivery and the webhook are `failed`.',
    tests: {
      'test/webhooks/retries.test.ts': [
        'come 1, 5 and 30 minutes after the previous attempt ended, to the millisecond, and then no more',
        'after the last one the delivery is failed and the webhook too, with the reason',
        'survive a restart: neither early nor lost, and the attempts before it count',
      ],
      'src/work/schedule.test.ts': ['a retry is never early and there are exactly as many retries as delays'],
    },
  },
  {
    number: 23,
    fault: "The machine's clock jumps by an hour.",
    promise:
      'No retry is early or late, and no second attempt overlaps. Leases do not get longer. The jump removes no data.',
    tests: {
      'test/webhooks/retries.test.ts': [
        'a clock that jumps far ahead during an attempt starts no second one',
      ],
      'src/db/engines/postgres/clock.test.ts': [
        'processes whose clocks are an hour ahead and an hour behind agree about retries, times and signatures',
      ],
      'test/clock.test.ts': [
        'a clock that is set an hour … changes nothing of a retry, a replay, a rate limit or a wait',
        'a retry is due 60 s after the attempt although the clock is set an hour … between two starts',
        'a start 40 days ahead removes nothing, but removes after a day of service time',
      ],
      'test/faults/clock.fault.ts': [
        'a retry comes 12 s after its attempt, though the clock is set an hour … in between',
        'a start 40 days ahead keeps the trash and the log until `rapport clock confirm`',
        'the lease of a crashed worker ends on time, though the clock is set an hour back',
      ],
    },
  },
  {
    number: 24,
    fault: 'SIGSTOP of a worker until its lease ends, then SIGCONT',
    promise: 'Its late outcome changes nothing. The outcome of the new owner stays.',
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
    fault: 'Several workers claim at the same time.',
    promise: 'No delivery is claimed twice.',
    tests: {
      'src/webhooks/delivery/queue.test.ts': ['owners that claim at once never get the same delivery'],
      'src/webhooks/delivery/dispatcher.test.ts': ['two dispatchers on one database send each delivery once'],
    },
  },
  {
    number: 28,
    fault: 'A webhook is deleted or paused while deliveries are pending.',
    promise:
      'Deletion cancels pending deliveries, and nothing is sent after the 200. A pause keeps them, and a resume sends them.',
    tests: {
      'test/webhooks/pause-delete.test.ts': [
        'cancels pending deliveries: the log keeps them as cancelled and finished, without a next attempt',
        'nothing is posted after the 200, even in the middle of a burst',
        'nothing is posted after the 200 of a pause, and all of it after the resume',
      ],
      'src/events/emit.test.ts': ['a change in flight while a webhook is deleted leaves no pending delivery'],
      'test/faults/long-backlogs.fault.ts': [
        'a webhook with 200,000 pending deliveries is deleted at once, and kill -9 in the middle leaves nothing pending',
        'a resend of 200,000 failed deliveries is accepted at once, and kill -9 during it neither loses nor doubles one',
      ],
    },
  },
  {
    number: 29,
    fault: 'The secret is rotated between two attempts.',
    promise:
      'The body stays the same. Each attempt is signed with the secrets of its time. During the overlap, the old and the new secret both verify.',
    tests: {
      'test/webhooks/rotation.test.ts': [
        'a retry is signed with the secrets of its own time, over the same body',
        'during the overlap, receivers with the old and with the new secret verify; then only those with the new one',
      ],
    },
  },
  {
    number: 30,
    fault: 'A delivery that cannot be built, or that ends the process; payloads larger than the memory',
    promise:
      'The delivery fails alone (after 5 crashes: `interrupted`), and all others continue. In 256 MB, all payloads are delivered.',
    tests: {
      'src/webhooks/delivery/dispatcher.test.ts': [
        'a delivery that cannot be built fails alone, and stops no other',
        'an outcome that the database refuses stops no other, and is stored as an attempt without its answer',
      ],
      'src/webhooks/delivery/interruptions.test.ts': [
        'a delivery that ends the process five times alone in flight is failed, and others are delivered',
        'after a crash, one attempt is in flight at a time until all interrupted ones were tried, then more',
        'stops that interrupt attempts do not count, and neither do outcomes',
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
    fault: 'Another program keeps a transaction open for minutes (`OPEN_SECONDS=600`: for 10 minutes).',
    promise: 'Deliveries are as fast as without it.',
    tests: {
      'test/faults/open-transaction.fault.ts': [
        'a transaction that stays open in another program does not slow deliveries',
      ],
    },
  },
]
