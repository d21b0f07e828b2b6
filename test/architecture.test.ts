// runs: once
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { test } from 'node:test'
import { form, importsOf, read, root } from './source-files.ts'

// Which file of src may import which. The first row whose `files` match is the rule of a file: it may import `may`, and
// the installed `packages`. A file without a row is in a new room: add a row for it.

// Every folder with a resource.ts is a resource.
const folders = globSync('src/resources/*/**/resource.ts', { cwd: root }).map((file) =>
  posix.dirname(file.replaceAll('\\', '/')).replace(/^src\//, ''),
)
const resource = `(${folders.join('|')})`
// The descriptions of the resources, and the parts that all of them share.
const shared = 'resources/((writing|lists|batch|endpoints|values)/)?[a-z-]+'
const lists = 'db/lists/(lists|orders|filters|search|search-numbers|field-values|same-text)'
// All rooms above may import these.
const floor =
  'http/.*|events/[a-z]+|db/[a-z-]+|db/(lists|statements)/.*|work/run|errors|clock|telemetry/tracer|zones/[a-z]+|mails/[a-z-]+'
// The parts of custom fields that writes and lists use.
const defined = 'custom-fields/(defined-values|definition-rules|definitions)'
const rows: { files: string; may: string; packages: string }[] = [
  // Leaves, which every room may import: time, the version, the settings, public errors, the names of commands.
  { files: '(clock|errors|version|installed|setting|visible)', may: '', packages: 'node:(fs|net|os|sea)' },
  {
    files: '(config|telemetry/settings|mails/settings)',
    may: 'setting|(telemetry|mails)/settings|mails/address|zones/folder',
    packages: 'node:(fs|net)',
  },

  // Calendar files: pure functions.
  { files: 'icalendar/.*', may: '', packages: '' },

  // Calendars of other programs: pure functions in a thread, and the rows around them.
  {
    files: 'busy/(components|events|file-zones|oracle|periods|properties|read|rule|thread)',
    may: 'OWN/(components|events|file-zones|periods|properties|read|reader|rule)|zones/[a-z-]+',
    packages: 'ical.js|rrule-temporal|windows-iana|node:worker_threads',
  },
  {
    files: 'busy/.*',
    may: `OWN/.*|access/people/fields|across/views/queries|webhooks/registration/(target|headers)|webhooks/delivery/(connector|proxy|resolve)|resources/appointments/bookings|${floor}`,
    packages: 'typebox|fastify|kysely|undici|node:(crypto|tls|worker_threads|timers/promises)',
  },

  // Texts of the service in each language.
  { files: 'texts/.*', may: 'texts/forms|booking-site/texts/forms', packages: '' },

  // How people and programs write numbers, days, names and codes.
  { files: 'cells/.*', may: 'OWN/.*|clock|zones/wall|db/lists/normalise', packages: '' },

  // The rules of time zones, by the newest data.
  { files: 'zones/.*', may: 'OWN/.*', packages: 'temporal-polyfill|node:(fs|path)' },

  // The lowest rooms. db imports none of the others. http imports db and events, because a write is one transaction,
  // which also stores the answer for an Idempotency-Key.
  {
    files: 'db/engines/sqlite/.*',
    may: 'db/.*|clock|installed',
    packages: 'kysely|node:(sqlite|fs|path|crypto|url|diagnostics_channel|worker_threads)',
  },
  {
    files: 'db/engines/postgres/.*',
    may: 'db/.*|clock',
    packages: 'kysely|pg|node:(crypto|stream|timers/promises)',
  },
  // config and errors for a type alone.
  {
    files: 'db/.*',
    may: 'db/.*|clock|config|errors|installed',
    packages: 'kysely|node:(fs|path|crypto|timers/promises)',
  },
  // A move copies tables from one engine to the other.
  { files: 'move/.*', may: 'move/.*|db/.*|resources/(resource|derived)', packages: 'kysely|node:crypto' },
  { files: 'events/[a-z]+', may: 'events/[a-z]+|db/.*|clock|mails/mailing', packages: 'typebox|node:util' },
  // Spans, and the only code that sends them.
  { files: 'telemetry/.*', may: 'OWN/.*|config|version|clock', packages: 'node:crypto' },
  // The runner of unfinished work.
  { files: 'work/schedule', may: '', packages: '' },
  { files: 'work/.*', may: `OWN/.*|${floor}`, packages: 'kysely|typebox|node:timers/promises' },
  // config for its type alone.
  { files: 'http/.*', may: `${floor}|config|resources/resource`, packages: '(?!node:sqlite|undici|pg).*' },

  // Mails that the service sends. Every room may write one, in the transaction of its cause.
  {
    files: 'mails/.*',
    may: `mails/.*|texts/.*|icalendar/.*|access/people/users|booking-site/days|config|work/schedule|${floor}`,
    packages:
      'kysely|typebox|nodemailer/lib/(smtp-connection|mail-composer)|node:(crypto|stream|tls|timers/promises)|fastify',
  },

  // Rows of files: CSV, lines of JSON, sheets, cards, archives. Nothing of it knows a resource.
  {
    files: 'files/.*',
    may: 'files/.*',
    packages: 'csv-parse/sync|secure-json-parse|saxes|yauzl|node:(buffer|stream)',
  },

  // The type of a resource. Rooms that handle all resources get their list as an argument.
  {
    files: 'resources/resource',
    may: 'http/fields|events/define|db/(records|tx)|db/lists/(orders|same-text)',
    packages: 'kysely|typebox',
  },
  // The filters that follow from a description.
  {
    files: 'resources/lists/filter-fields',
    may: 'resources/resource|http/(fields|filter-values|filter-parameters)|errors',
    packages: 'typebox',
  },
  // Values that are derived from the descriptions of all resources.
  { files: 'resources/derived', may: 'resources/resource', packages: '' },
  // Columns that many resources have, and the orders by some of them.
  { files: 'resources/fact-orders', may: 'db/lists/orders', packages: 'kysely' },
  {
    files: 'resources/shared-columns',
    may: 'resources/resource|http/fields|events/actors',
    packages: 'typebox',
  },
  // The shared parts of the records, operations and endpoints of resources.
  { files: 'resources/values/(decimal|sums)', may: '', packages: '' },
  { files: 'resources/values/encoding', may: 'OWN/decimal|resources/resource', packages: '' },
  {
    files: 'resources/writing/(selection|records)',
    may: `${shared}|events/[a-z]+|db/[a-z-]+|db/(lists|statements)/.*`,
    packages: 'kysely',
  },
  {
    // http/fields for a type alone.
    files: 'resources/(writing/(input|operations)|lists/(list|range-filters))',
    may: `${shared}|${defined}|errors|clock|http/(fields|filter-values|query-names|relative-days)|events/[a-z]+|db/[a-z-]+|db/(lists|statements)/.*`,
    packages: 'kysely|node:util',
  },
  // The parameters of a list.
  {
    files: 'resources/lists/list-query',
    may: 'OWN/filter-fields|resources/resource|http/(fields|lists|filter-values|query-names)|db/lists/orders',
    packages: 'typebox',
  },
  {
    files: 'resources/lists/export',
    may: `OWN/list|resources/resource|${defined}|files/(csv|tags)|http/fields|db/(db|tx|lists/.*|statements/prepare)`,
    packages: 'node:timers/promises',
  },
  { files: 'resources/values/months', may: 'zones/wall', packages: 'temporal-polyfill' },
  { files: 'resources/values/time-zone', may: 'errors|zones/names', packages: 'typebox' },
  { files: 'resources/lists/group(s|-ranges)', may: `${shared}|db/.*`, packages: 'kysely' },
  {
    files: 'resources/endpoints/((export|group)-)?routes',
    may: `${shared}|${defined}|${floor}`,
    packages: 'typebox|node:stream',
  },
  {
    files: 'resources/room',
    may: `resources/(resource|writing/(records|operations|match))|cells/days|${floor}`,
    packages: 'kysely|typebox',
  },
  { files: 'resources/index', may: `resources/(resource|room)|${resource}/routes`, packages: '' },
  // How an upsert finds a record; a batch, which runs operations of any resource.
  { files: 'resources/writing/match', may: 'db/.*|custom-fields/defined-values', packages: 'kysely' },
  {
    files: 'resources/batch/(batch|items|order|routes|undo)',
    may: `${shared}|${defined}|${floor}`,
    packages: 'kysely|typebox|node:(util|timers/promises)',
  },
  // A resource as data, with its table's type.
  {
    files: `${resource}/resource`,
    may: 'resources/(resource|shared-columns|fact-orders|values/decimal)|OWN/(schema|events|stages|hosts-text)|events/define|http/fields',
    packages: 'kysely|typebox',
  },

  // A resource: its schema, its rules, its queries and its routes. It imports only the schema of another resource.
  // Notes are part of contacts.
  {
    files: `${resource}/((history|settings)-)?schema`,
    may: `resources/(resource|shared-columns|values/decimal|lists/filter-fields)|http/(fields|filter-parameters)|events/actors|OWN/.*|${resource}/(schema|resource)`,
    packages: 'typebox',
  },
  {
    files: `${resource}/events`,
    may: `events/define|http/fields|OWN/schema|${resource}/(schema|resource)`,
    packages: 'typebox',
  },
  { files: `${resource}/import`, may: 'resources/room|cells/days', packages: '' },
  { files: 'resources/deals/stages', may: '', packages: '' },
  { files: 'resources/appointments/requests', may: 'OWN/schema', packages: '' },
  // errors for a type alone.
  {
    files: 'resources/booking-pages/availability',
    may: 'errors|http/formats|zones/[a-z]+',
    packages: '',
  },
  // The questions of a page, and the answers of a form. Types of errors and fields alone.
  {
    files: 'resources/booking-pages/questions',
    may: 'custom-fields/(defined-values|definition-rules)|errors|http/fields',
    packages: 'typebox',
  },
  // The slots that the rules of a page open, without those that are booked.
  {
    files: 'resources/booking-pages/(slots|explain)',
    may: 'OWN/(availability|hosts|schema)|db/db|clock',
    packages: '',
  },
  // The calendars of a page and of its hosts, and who is free.
  {
    files: 'resources/booking-pages/hosts-text',
    may: 'db/(busy|db|tx)|db/statements/json-text',
    packages: 'kysely',
  },
  {
    files: 'resources/booking-pages/hosts',
    may: 'db/busy|OWN/(availability|queries)|db/(db|locks)|clock',
    packages: '',
  },
  // The hosts of an appointment.
  {
    files: 'resources/appointments/hosting',
    may: 'OWN/(queries|schema)|resources/booking-pages/(hosts|queries)|db/db|errors|events/context',
    packages: '',
  },
  {
    files: 'resources/appointments/guests',
    may: 'OWN/schema|db/(db|locks|references)|errors|events/context',
    packages: '',
  },
  {
    files: 'resources/appointments/operations',
    may: `${shared}|OWN/.*|resources/booking-pages/hosts|errors|events/[a-z]+|db/db`,
    packages: 'kysely|typebox',
  },
  // Operations run in the transaction of the caller, and do not import http.
  {
    files: `${resource}/(operations|list|progress|settings|(history-)?queries)`,
    may: `${shared}|OWN/.*|custom-fields/definitions|errors|http/filter-values|events/[a-z]+|db/[a-z-]+|db/(lists|statements)/.*|zones/[a-z]+`,
    packages: 'kysely|typebox',
  },
  // Bookings, and their mails.
  {
    files: 'resources/appointments/(booking(s|-mails)|reminders)',
    may: 'OWN/.*|resources/booking-pages/queries|clock|events/(context|define)|db/[a-z-]+|db/statements/prepare|mails/[a-z-]+',
    packages: 'kysely|node:crypto',
  },
  // The wall clock of an appointment.
  {
    files: 'resources/appointments/clocks',
    may: 'OWN/schema|clock|zones/wall|events/context|db/db|db/statements/(bulk|prepare)',
    packages: 'kysely',
  },
  // Entries of timelines that are not records.
  {
    files: `${resource}/timeline`,
    may: `${shared}|OWN/resource|events/actors|db/(db|tables)|db/statements/recordset`,
    packages: 'kysely',
  },
  {
    files: `${resource}/((history|settings)-)?routes`,
    may: `${shared}|OWN/.*|resources/contacts/operations|http/.*|events/[a-z]+|db/(db|references|locks)|errors|clock|${lists}`,
    packages: 'typebox',
  },

  // Calendars that programs of a person read.
  {
    files: 'calendar-feeds/.*',
    may: `OWN/.*|icalendar/.*|access/(use|people/(service|tokens))|across/views/queries|resources/appointments/bookings|mails/mailing|${floor}`,
    packages: 'kysely|typebox|node:(crypto|timers/promises)',
  },

  // Rooms that handle all resources. They use the tables and schemas of resources, not their rules. An erasure
  // interrupts attempts in flight, and the delivery log shows that.
  {
    files: 'across/erasure/events',
    may: `OWN/slices|webhooks/delivery/attempts|${floor}`,
    packages: 'kysely|node:.*',
  },
  // Sums of deals and activities, by the rules of deals.
  {
    files: 'across/reports/.*',
    may: `OWN/.*|resources/deals/(resource|stages|settings|schema)|resources/activities/(resource|schema)|resources/(lists/(list|filter-fields)|values/(months|sums|time-zone))|${floor}`,
    packages: 'kysely|typebox|node:timers/promises',
  },
  // The zones in use, whose rules may change.
  { files: 'across/zones/.*', may: `OWN/.*|${floor}`, packages: 'kysely|node:timers/promises' },
  // A view is a text to this service: the web app knows what it means.
  { files: 'across/views/.*', may: `OWN/.*|${floor}|resources/(resource|derived)`, packages: 'typebox' },
  // Everything of a workspace as an archive.
  {
    files: 'across/exports/.*',
    may: `OWN/.*|files/.*|${floor}|resources/(resource|room)`,
    packages: 'kysely|typebox|node:(stream|zlib|timers/promises)',
  },
  // Custom fields: the rows of their values, the rules without the database, the definitions as writes obey them.
  { files: 'custom-fields/defined-values', may: 'db/.*', packages: 'kysely|node:crypto' },
  {
    files: 'custom-fields/definition-rules',
    may: 'OWN/defined-values|errors|http/(fields|formats)',
    packages: 'node:util',
  },
  // The endpoints of the definitions, too, and the check of existing values.
  {
    files: 'custom-fields/.*',
    may: `OWN/.*|${floor}|resources/resource`,
    packages: 'kysely|typebox',
  },
  // Imports write by the batch of a resource, which arrives as an argument.
  {
    files: 'imports/.*',
    may: `OWN/.*|imports/[^/]*|cells/[a-z-]+|custom-fields/(check|operations|queries|schema)|${defined}|across/views/(operations|queries|schema)|files/.*|${floor}|resources/(resource|derived|room|values/time-zone|batch/(batch|items|undo))`,
    packages: 'kysely|typebox|fastify|node:(crypto|stream|util|zlib|timers/promises)',
  },
  // The undo of groups of the audit log and of merges works by batches, as that of imports does.
  {
    files: 'across/(reverts/routes|merges/(links|undo))',
    may: `OWN/.*|${floor}|resources/(resource|derived|room|batch/(items|undo))`,
    packages: 'typebox|fastify|kysely',
  },
  // Tools of assistants are operations of the API.
  {
    files: 'mcp/.*',
    may: `OWN/.*|${floor}|resources/(resource|derived)`,
    packages: '@modelcontextprotocol/server|fastify|node:stream|node:timers/promises',
  },
  // A backfill writes deliveries of a webhook.
  {
    files: 'across/backfills/.*',
    may: `OWN/.*|webhooks/registration/(removal|schema|webhooks)|${floor}|resources/(resource|room)`,
    packages: 'kysely|typebox|node:timers/promises',
  },
  // The jobs of the trash and the audit log remove old rows.
  {
    files:
      '(across/(audit|timeline|trash|erasure|reassignment|duplicates|merges|reverts|notifications|search)|events/feed)/.*|across/titles',
    may: `OWN/.*|across/(trash|erasure)/.*|across/audit/queries|across/titles|${floor}|resources/(resource|derived|room)`,
    packages: 'kysely|typebox|fastify|node:.*',
  },

  // Deliveries do not import resources. The catalogue of events arrives as an argument.
  { files: 'webhooks/delivery/signature', may: '', packages: 'node:crypto' },
  {
    files: 'webhooks/.*',
    may: `webhooks/.*|work/schedule|${floor}`,
    packages: 'kysely|typebox|undici|ipaddr\\.js|node:(?!sqlite).*',
  },

  // Keys, people and workspaces. The definition of a role does not import its storage.
  { files: 'access/people/roles', may: '', packages: '' },
  {
    files: 'access/.*',
    may: `access/.*|${floor}`,
    packages: 'typebox|fastify|kysely|@noble/hashes/argon2\\.js|node:(crypto|os|util)',
  },

  // The page on which visitors book. A booking finds or makes a contact and makes an appointment: it does what their own
  // rooms do.
  // Days as a zone has them, for visitors' calendars.
  {
    files: 'booking-site/days',
    may: 'resources/booking-pages/availability|zones/wall',
    packages: 'temporal-polyfill',
  },
  // The style and the script of the public pages are files beside it.
  { files: 'booking-site/assets', may: 'http/server', packages: 'node:(crypto|fs)' },
  { files: 'booking-site/texts/.*', may: 'booking-site/texts/forms', packages: '' },
  {
    files: 'booking-site/.*',
    may: `OWN/.*|icalendar/.*|resources/booking-pages/.*|resources/(contacts|appointments)/(queries|operations|resource|schema|requests|bookings|booking-mails|hosting)|${defined}|${floor}`,
    packages: 'typebox|fastify|kysely|node:crypto',
  },

  // The list of jobs, and the function that runs them.
  { files: 'jobs/run', may: 'db/(db|commit-topics|service-clock)', packages: '' },
  {
    files: 'jobs/jobs',
    may: 'jobs/run|work/run|access/people/(cleaning|reset-requests)|across/(audit|trash|notifications)/(retention|digests)|imports/(run|undo|retention)|mails/(mailer|upkeep)|busy/poll|across/backfills/run|across/reassignment/reassign|across/merges/(continue|links)|custom-fields/upkeep|booking-site/upkeep|webhooks/(delivery/(fanouts|order-off)|log/(resends|retention)|registration/removal)|resources/(index|appointments/reminders)|db/[a-z-]+|config',
    packages: '',
  },

  // The built files of the web app. The app uses only the API.
  { files: 'web/build', may: '', packages: 'node:(child_process|crypto|events|fs|path|url)' },
  { files: 'web/files', may: '', packages: 'node:(fs|path)' },
  { files: 'web/open', may: 'web/(build|files)', packages: '' },
  {
    files: 'web/routes',
    may: 'errors|http/(compression|server)|resources/(resource|derived)|web/files',
    packages: 'node:(crypto|path)',
  },

  // The top: it may import every room, and no room may import it.
  { files: '(app|server|main|cli/.*)', may: '.*', packages: '.*' },
]
const top = /^(app|server|main|cli\/.*)$/

const fits = (pattern: string, name: string) => new RegExp(`^(${pattern})$`).test(name)
const sources = globSync('src/**/*.ts', { cwd: root })
  .map((file) => file.replaceAll('\\', '/'))
  .sort()
const code = sources.filter((file) => !file.endsWith('.test.ts'))
const nameOf = (file: string) => file.replace(/^src\//, '').replace(/\.ts$/, '')
test('every file imports only what its room may', () => {
  const wrong: string[] = []
  let checked = 0
  for (const file of code) {
    const name = nameOf(file)
    const row = rows.find(({ files }) => fits(files, name))
    if (!row) {
      wrong.push(`${name} belongs to no room: add a row`)
      continue
    }
    const may = row.may.replaceAll('OWN', posix.dirname(name))
    for (const from of importsOf(file)) {
      checked++
      if (!from.startsWith('.')) {
        if (!fits(row.packages, from)) wrong.push(`${name} may not use the package ${from}`)
        continue
      }
      const target = nameOf(posix.join(posix.dirname(file), from))
      if (top.test(target) && !top.test(name)) wrong.push(`${name} imports ${target}, which only the top may`)
      else if (!fits(may, target)) wrong.push(`${name} may not import ${target}`)
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(code.length > 50 && checked > 200, 'the imports are not found')
})

test('a migration runs no code that may change after its release: it uses kysely and its own folder', () => {
  const files = code.filter((file) => file.startsWith('src/db/migrations/'))
  const used = files.flatMap((file) =>
    [...read(file).matchAll(form)].flatMap(([text, from]) => (text.startsWith('import type ') ? [] : [from])),
  )
  assert.deepEqual(
    used.filter((from) => from !== 'kysely' && !from?.startsWith('./')),
    [],
  )
  assert.ok(files.length > 10 && used.length > 15)
})

test('every row of the table has files', () => {
  for (const { files } of rows)
    assert.ok(
      code.some((file) => fits(files, nameOf(file))),
      files,
    )
})

test('the rules of deals use no clock and no random values', () => {
  for (const file of ['src/resources/deals/stages.ts', 'src/resources/values/decimal.ts'])
    assert.doesNotMatch(read(file), /\bDate\b|Math\.random|crypto|await|process/)
})

test('only the settings read the environment; the command line hands it to them', () => {
  const readers = code.filter((file) => /process\.env/.test(read(file)))
  assert.deepEqual(readers, ['src/config.ts', 'src/main.ts'])
})

test('only the clock asks the system for the time of day', () => {
  const readers = code.filter((file) => /\bDate\.now\b|new Date\(\)/.test(read(file)))
  // Ids grow with the machine's time, so that their order is theirs alone: a turned clock must not turn it.
  assert.deepEqual(readers, ['src/clock.ts', 'src/db/ids.ts'])
})

test('no file of the program has more than 400 lines, no test more than 500', () => {
  const long = [...sources, ...globSync('test/**/*.ts', { cwd: root })].filter(
    (file) => read(file).split('\n').length - 1 > (/test\.ts$|^test/.test(file) ? 500 : 400),
  )
  assert.deepEqual(long, [])
})

test('files and folders have names that say what is in them', () => {
  const files = [...sources, ...globSync('{test,demo,bench,web/src}/**/*.{ts,tsx}', { cwd: root })]
  const vague = /^(utils?|helpers?|common|managers?|misc)$/i
  const found = files.filter((file) =>
    file.split(/[/\\]/).some((part) =>
      basename(part, '.ts')
        .split(/[-.]/)
        .some((word) => vague.test(word)),
    ),
  )
  assert.deepEqual(found, [])
})
