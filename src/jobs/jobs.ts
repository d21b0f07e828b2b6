import { removeExpiredAccess } from '../access/people/cleaning.ts'
import { resetWork } from '../access/people/reset-requests.ts'
import { cleanLog } from '../across/audit/retention.ts'
import { backfillWork } from '../across/backfills/run.ts'
import { forgetOldMerges, mergeWork } from '../across/merges/continue.ts'
import { mergeKinds } from '../across/merges/links.ts'
import { type DigestDeps, writeDigests } from '../across/notifications/digests.ts'
import { removeOldNotifications } from '../across/notifications/retention.ts'
import { reassignmentWork } from '../across/reassignment/reassign.ts'
import { emptyTrash } from '../across/trash/retention.ts'
import { keepUpBookings } from '../booking-site/upkeep.ts'
import type { Poller } from '../busy/poll.ts'
import type { Config } from '../config.ts'
import { definitionWork } from '../custom-fields/upkeep.ts'
import { markStale } from '../db/busy.ts'
import type { Database } from '../db/db.ts'
import type { Durability } from '../db/durability.ts'
import type { Seal } from '../db/seal.ts'
import type { ServiceClock } from '../db/service-clock.ts'
import { analyzeGrown } from '../db/statistics.ts'
import { removeOldImports } from '../imports/retention.ts'
import { runImports } from '../imports/run.ts'
import { undoWork } from '../imports/undo.ts'
import { type Mailer, senders } from '../mails/mailer.ts'
import { endPending, removeOldMails } from '../mails/upkeep.ts'
import { writeReminders } from '../resources/appointments/reminders.ts'
import { resources, rooms } from '../resources/index.ts'
import { fanOutWork } from '../webhooks/delivery/fanouts.ts'
import { orderWork } from '../webhooks/delivery/order-off.ts'
import { resendWork } from '../webhooks/log/resends.ts'
import { removeOld } from '../webhooks/log/retention.ts'
import { removalWork } from '../webhooks/registration/removal.ts'
import { runWork } from '../work/run.ts'
import type { Job } from './run.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

export type JobDeps = {
  db: Database['db']
  clock: ServiceClock
  durability: Pick<Durability, 'look'>
  seal: Seal
  lookAtZones: () => Promise<void>
  readableKinds: DigestDeps['readableKinds']
  /** Null without SMTP_URL. */
  mailer: Mailer | null
  poller: Poller
  config: Pick<
    Config,
    'delivery_log_days' | 'mail_log_days' | 'trash_days' | 'audit_log_days' | 'sign_in_address_days'
  >
}

/** All work that runs by the clock. Timers of a delivery, a connection or a request are with these. */
export function jobs({
  db,
  clock,
  durability,
  seal,
  lookAtZones,
  readableKinds,
  mailer,
  poller,
  config,
}: JobDeps): Job[] {
  const trash = { db, clock, seal, resources, trash_days: config.trash_days }
  const kinds = [
    fanOutWork,
    reassignmentWork(rooms),
    removalWork,
    resendWork,
    orderWork,
    backfillWork(rooms),
    definitionWork,
    mergeWork(mergeKinds(rooms)),
    undoWork(rooms),
    resetWork,
  ]
  /** Removes what is old, each hour, but not while removal is held. */
  const cleaning = (name: string, first_ms: number, run: Job['run']): Job => ({
    name,
    role: 'dispatcher',
    first_ms,
    every_ms: hour,
    held: 'waits',
    run,
  })
  return [
    // Notices when somebody sets the clock, and renews the sign of life.
    {
      name: 'service clock',
      first_ms: 10 * second,
      every_ms: 10 * second,
      // Ignore the error: while the database is unavailable, service time still advances.
      run: () => clock.look().catch(() => {}),
    },
    // Logs the database's settings that may lose acknowledged writes.
    { name: 'durability', first_ms: hour, every_ms: hour, run: durability.look },
    // Takes newer zone files of the system.
    { name: 'zone data', first_ms: second, every_ms: hour, run: lookAtZones },

    // Plans follow the tables of a new installation, which grow quickest.
    {
      name: 'statistics',
      role: 'dispatcher',
      first_ms: 2 * second,
      every_ms: 2 * second,
      run: (stopping) => analyzeGrown(db, stopping),
    },

    // Does the next steps of work that requests have left. A kind whose step waits for a lock holds up no other kind.
    ...kinds.map(
      (steps): Job => ({
        name: `work: ${steps.kind}`,
        role: 'dispatcher',
        first_ms: 0,
        every_ms: second,
        wake: 'backlog',
        run: (stopping) => runWork({ db, clock }, steps, stopping),
      }),
    ),
    // Imports uploaded files.
    {
      name: 'imports',
      role: 'dispatcher',
      first_ms: 0,
      every_ms: second,
      wake: 'imports',
      run: (stopping) => runImports({ db, clock, rooms, stopping }),
    },
    // Sends due mails, each sender over a connection of its own.
    ...Array.from(
      { length: mailer ? senders : 0 },
      (_, sender): Job => ({
        name: `mails ${sender + 1}`,
        role: 'dispatcher',
        first_ms: 0,
        every_ms: second,
        wake: 'mails',
        run: async (stopping) => mailer?.sendDue(sender, stopping),
      }),
    ),
    // Polls busy calendars, several at once.
    {
      name: 'busy calendars',
      role: 'dispatcher',
      first_ms: second,
      every_ms: second,
      wake: 'busy',
      run: (stopping) => poller.pollDue(stopping),
    },
    // Marks busy calendars that were not read in time.
    {
      name: 'stale calendars',
      role: 'dispatcher',
      first_ms: 5 * second,
      every_ms: 10 * second,
      run: () => markStale(db, clock),
    },
    // Ends pending mails that are too old or useless.
    {
      name: 'pending mails',
      role: 'dispatcher',
      first_ms: 5 * second,
      every_ms: minute,
      run: (stopping) => endPending(db, clock, stopping),
    },
    // Writes the daily digests of members who want one.
    {
      name: 'daily digests',
      role: 'dispatcher',
      first_ms: 5 * second,
      every_ms: minute,
      held: 'waits',
      run: (stopping) => writeDigests({ db, clock, resources, readableKinds }, stopping),
    },
    // Writes the reminders of bookings that are due.
    {
      name: 'booking reminders',
      role: 'dispatcher',
      first_ms: 2 * second,
      every_ms: 5 * second,
      held: 'waits',
      run: (stopping) => writeReminders(db, clock, stopping),
    },
    // Declines booking requests that nobody answered, and removes the addresses of visitors.
    {
      name: 'bookings',
      role: 'dispatcher',
      first_ms: 10 * second,
      every_ms: minute,
      held: 'waits',
      run: (stopping) => keepUpBookings(db, clock, stopping),
    },

    // Removes old deliveries with their attempts, events that no delivery needs, and answers of idempotency keys.
    cleaning('delivery log', 10 * second, (stopping) =>
      removeOld(db, clock, config.delivery_log_days, stopping),
    ),
    // Removes old mails with their attempts, and what no limit counts any longer.
    cleaning('mail log', 15 * second, (stopping) =>
      removeOldMails(db, clock, config.mail_log_days, stopping),
    ),
    // Removes old records of the trash for good, and completes what a crash interrupted.
    cleaning('trash', 15 * second, (stopping) => emptyTrash({ ...trash, stopping })),
    // The same for interrupted erasures alone. Runs only while removal is held: otherwise the trash job completes them.
    {
      name: 'interrupted erasures',
      role: 'dispatcher',
      first_ms: 15 * second,
      every_ms: hour,
      held: 'runs',
      run: (stopping) => emptyTrash({ ...trash, stopping, begun_only: true }),
    },
    // Removes what an undo of a merge would need, when it is too late for an undo.
    cleaning('old merges', 20 * second, (stopping) =>
      forgetOldMerges(db, clock, config.trash_days, stopping),
    ),
    // Removes uploads that broke off, and old imports with what would undo them.
    cleaning('old imports', 20 * second, (stopping) =>
      removeOldImports(db, clock, config.trash_days, stopping),
    ),
    // Removes old notifications, and those of people who have left.
    cleaning('notifications', 20 * second, (stopping) => removeOldNotifications(db, clock, stopping)),
    // Removes ended sessions, old invitations and failed sign-ins, and accounts that left all workspaces.
    cleaning('people', 20 * second, (stopping) => removeExpiredAccess(db, clock, stopping)),
    // Removes old entries, and the addresses and browsers of old sign-ins.
    cleaning('audit log', 25 * second, (stopping) => cleanLog(db, clock, config, stopping)),
  ]
}
