import type { Fault } from '../table.ts'

/** Faults of clients: the requests, and how they are sent. */
export const requests: Fault[] = [
  {
    number: 33,
    fault: 'Invalid UTF-8',
    promise: '400',
    tests: {
      'test/http/errors.test.ts': ['invalid UTF-8 is 400; a byte order mark is ignored'],
      'test/http/json.test.ts': ['arbitrary bytes as a body never give a 5xx'],
    },
  },
  {
    number: 34,
    fault: 'NUL or a lone surrogate in any text or key',
    promise: '422',
    tests: {
      'src/resources/companies/fields.test.ts': [
        'NUL and lone surrogates are 422 anywhere in a body, keys too',
      ],
      'src/resources/contacts/fields.test.ts': [
        'NUL and lone surrogates are refused, in values, keys and tags',
      ],
    },
  },
  {
    number: 35,
    fault: 'JSON with more than 64 levels, or 100,000 brackets',
    promise: '400, as fast as any other answer',
    tests: {
      'test/http/errors.test.ts': [
        'JSON may have 64 levels; one more is 400, and 100,000 are refused as fast',
      ],
    },
  },
  {
    number: 36,
    fault: '`__proto__` and `constructor.prototype`, also escaped',
    promise: '400. A plain key `constructor` is accepted.',
    tests: {
      'test/http/errors.test.ts': [
        'keys that name the prototype are 400, at every depth and in every escaped form',
        'names of properties of every JavaScript object are ordinary keys of custom fields',
      ],
    },
  },
  {
    number: 37,
    fault: 'Invalid JSON, unusual JSON, or hostile texts',
    promise:
      'Invalid JSON gets 400. Valid JSON is read as the standard says. Every accepted text is returned byte for byte.',
    tests: {
      'test/http/json.test.ts': [
        '… texts are 400 in the envelope, on POST and PUT, and change nothing',
        'unusual but valid JSON is read as the standard says',
      ],
      'test/http/json-suite.test.ts': [
        'each invalid JSON document is 400, on POST and on PUT, and changes nothing',
        'each valid number and string is read as the standard says, and returned unchanged',
        'input that the standard leaves open always has the same outcome, and never a 5xx',
      ],
      'test/hostile-texts.test.ts': [
        '…: every text comes back as it was, but for blanks around it and what nobody sees in a number, or is refused by its field',
        'there are more than a hundred texts, and every operation with texts is tested or listed here',
      ],
    },
  },
  {
    number: 38,
    fault: 'Ids such as 0, -1, 1.5, 2⁶³, 1e3, 0x1',
    promise: '404 in a path, 422 in a body or a query, never 500',
    tests: {
      'test/http/errors.test.ts': [
        'an id in the path that is not a positive integer is 404, for every method',
      ],
      'test/http/ids-and-times.test.ts': [
        'an invalid id is 422 in every body and every filter, by its field, and never a 5xx',
      ],
      'test/http/json.test.ts': ['arbitrary query strings and ids never give a 5xx'],
    },
  },
  {
    number: 39,
    fault: 'A value of 1e400, of 19 digits, 0.1 + 0.2, -0, or a text',
    promise: '422 if it cannot be stored exactly. Otherwise it is returned and summed exactly.',
    tests: {
      'src/resources/deals/deals.test.ts': [
        'a value is echoed exactly, in the detail, in the list and in the event',
        'values out of range, too precise or of another type are refused, and nothing is coerced',
      ],
      'test/http/ids-and-times.test.ts': [
        'a sum of fractions with too many decimals is 422; its rounded form is exact',
      ],
      'src/resources/values/decimal.test.ts': [
        'every value of up to 4 decimals is stored exactly and comes back as the same number',
      ],
    },
  },
  {
    number: 40,
    fault: '2026-02-30, 24:00, UTC offsets, or the year 0',
    promise: '422, or the same moment in UTC. Never another day.',
    tests: {
      'test/http/ids-and-times.test.ts': [
        'a day that does not exist is 422; one that does comes back as the same day',
        'a time that does not exist is 422 in every body and every filter; one that does is the same moment in UTC',
      ],
      'test/http/read-only-fields.test.ts': [
        'a time whose year in UTC is out of range is refused, so that PUT accepts every answer of GET',
      ],
    },
  },
  {
    number: 41,
    fault: '50 concurrent POSTs with one `Idempotency-Key`',
    promise:
      'One record, one event and one answer. Another body gets 409. The answer is kept for 24 h, also after a restart.',
    tests: {
      'test/http/idempotency.test.ts': [
        '50 concurrent requests with one key create one record with one event',
        '50 concurrent requests with one key and different bodies create one record; the others are refused',
        'an answer is kept for 24 hours',
        'kept answers survive a restart, and are not readable in the database',
      ],
    },
  },
  {
    number: 42,
    fault: 'Concurrent PUTs of different fields',
    promise: 'Both changes are kept, and their events form a chain.',
    tests: {
      'src/resources/deals/changes.test.ts': ['two concurrent PUTs of different fields keep both'],
      'src/resources/contacts/contacts.test.ts': ['two concurrent PUTs of different fields keep both'],
      'test/postgres/locks.test.ts': [
        'fifty concurrent changes of one deal all succeed, each based on the one before',
      ],
    },
  },
  {
    number: 43,
    fault: 'Two concurrent requests win one deal.',
    promise: 'Exactly one `deal.won` is emitted.',
    tests: {
      'src/resources/deals/changes.test.ts': [
        'of two requests that win a deal concurrently, exactly one changes it',
      ],
      'test/postgres/locks.test.ts': ['a deal that fifty concurrent requests win is won once'],
    },
  },
  {
    number: 44,
    fault: 'A search for %, _, \\, quotes, or 10,000 characters',
    promise: 'They are plain characters. A search above 255 characters gets 422.',
    tests: {
      'src/resources/contacts/list.test.ts': [
        'a search takes %, _, backslashes and quotes as plain characters, and 10,000 characters are 422',
        'for … finds …',
        'a bad parameter is 422 with its name, an unknown one 400',
      ],
    },
  },
  {
    number: 45,
    fault: '`per_page` of 0, -1, 101, 1e9 or abc; `page` of 2⁵³',
    promise:
      'Above 100, `per_page` is 100. Other invalid values get 422. A page after the last one is empty.',
    tests: {
      'src/resources/companies/list.test.ts': [
        'pages are stable, newest first, and hold every record once',
        'per_page is 1 to 100; above, it is 100, and meta shows it',
        '0, negative numbers and non-integers are 422, for both parameters together',
        'a page far past any end is empty, with the true total',
      ],
    },
  },
  {
    number: 46,
    fault: '100,000 custom fields, or a value of 1 MiB',
    promise: '422 with a fixed number of problems. A body above 1 MiB gets 413.',
    tests: {
      'test/http/errors.test.ts': [
        'a body over 1 MiB is 413, one of exactly 1 MiB is taken',
        'a body of 20,000 unknown fields gets the first 1000 problems, and does not block the server',
        'a body of more than 50,000 names and values is 422 before it is parsed',
      ],
      'src/resources/companies/fields.test.ts': ['at most 100 keys, in a body and after merging'],
    },
  },
  {
    number: 47,
    fault: 'Slow uploads, slow readers, 10,000 connections, or 100 KB of headers',
    promise:
      'Slow uploads get 408, and large headers 431. Buffers are bounded. Health checks are always answered.',
    tests: {
      'test/http/raw.test.ts': [
        'headers or a path larger than 16 KiB are 431 in the envelope',
        'a request that is not complete in time is 408 in the envelope, both in its headers and in its body',
      ],
      'test/faults/readers.fault.ts': [
        '16 reads of the largest pages at once, and 30 connections that read nothing, fit into … MB of memory',
        'with 10,000 idle connections, slow uploads and slow readers, health is answered within 100 ms',
      ],
      'src/http/connections.test.ts': [
        'a connection that reads nothing is closed after the write timeout, and its bytes are free again',
        'a client that reads slowly gets its whole answer, after any time',
        'the total of large unread answers is limited: the next one is 503, a small one is answered',
      ],
      'src/events/feed/streams.test.ts': [
        'a slow client of a stream has no buffer in memory, delays no other, and gets all events later',
      ],
    },
  },
  {
    number: 48,
    fault: 'CR and LF in names, events and headers',
    promise: 'They never reach a header. Each log record is one line.',
    tests: {
      'test/http/line-breaks.test.ts': [
        'line breaks in names reach no header, and each log record is one line of JSON',
      ],
    },
  },
  {
    number: 49,
    fault: 'Timing attack on keys',
    promise: 'A key is found by the hash of all its characters. Each cause gets the same 401.',
    tests: {
      'test/access/access.test.ts': [
        'missing, unknown, malformed, revoked and expired keys get the same answer',
        'a key with a wrong end is refused as fast as a completely wrong key',
        'the database holds a hash of the key, not the key',
      ],
    },
  },
  {
    number: 50,
    fault: "Wrong media type or method, two lengths, unknown fields, or another tenant's id",
    promise: '415, 405 with `Allow`, 400, 422 and 404. Fields that only the service sets are never written.',
    tests: {
      'test/http/errors.test.ts': [
        'a body that is not declared as JSON is 415',
        'a known path with another method is 405 with the allowed methods, with and without a key',
      ],
      'test/http/raw.test.ts': ['a body with a contradictory or invalid length is 400, and creates nothing'],
      'test/access/workspaces.test.ts': [
        "another workspace's ids answer exactly like ids that never were, on every path and method",
      ],
      'src/resources/companies/fields.test.ts': [
        'an unknown field is 422 unknown_field: a typo must not vanish',
        'read-only fields are accepted and ignored, whatever they hold',
      ],
    },
  },
  {
    number: 52,
    fault: 'An import of line ends, of rows with 260,000 cells, or far in its file after a crash',
    promise: 'The event loop is never held for 100 ms. No row is imported twice.',
    tests: {
      'src/imports/hostile-files.test.ts': ['no file holds the loop for 100 ms: …'],
      'src/imports/upkeep.test.ts': [
        'an import that continues far in its file holds the loop for at most 100 ms, and imports no row twice',
      ],
      'src/imports/crash.test.ts': [
        '… whose process is killed goes on behind its last commit, and every row comes once',
        'an import of an archive whose process is killed makes every record and its link once',
      ],
    },
  },
  {
    number: 53,
    fault: 'An archive of 131 KB with 128 MiB of line ends, or a body that takes long to process',
    promise:
      'The event loop is never held for 100 ms. Work of the service is not counted as silence of its client.',
    tests: {
      'src/imports/hostile-files.test.ts': [
        'the preview counts 128 MiB of blank lines in an archive of 131 KB, and holds the loop for at most 100 ms',
      ],
      'src/imports/upload.test.ts': [
        'work of the service between two parts of a body is not silence of its client',
        'work that holds the event loop while a body arrives is not silence of its client',
        'a client that sends nothing while the service waits for its body is disconnected',
      ],
    },
  },
  {
    number: 54,
    fault: 'One request to `/mcp` with 100 messages',
    promise: 'Each message counts toward the rate limit. Other requests wait at most 100 ms.',
    tests: {
      'test/loop-delay.test.ts': ['…: 100 messages to /mcp, with 100 custom fields of 200 options'],
      'src/mcp/messages.test.ts': [
        'each message of a batch counts toward the rate limit, and nothing of a batch above it is done',
        'a batch ends where its answers have 8 MiB: the other messages are not served',
        'a batch is refused where the revision of the protocol has none',
      ],
    },
  },
  {
    number: 55,
    fault: 'A batch of 1,000 activities that each mention a member, in a workspace with 2,000 members',
    promise: 'It takes at most 1.3 times the CPU time of a batch without mentions. Each thing is read once.',
    tests: {
      'test/batch-costs.test.ts': [
        'a batch of 1,000 activities with a mention each costs at most 1.3 times one without, at 2,000 members',
      ],
    },
  },
  {
    number: 56,
    fault: 'A batch of 1,000 companies, with 60 or 100 webhooks of 20 conditions, then `kill -9`',
    promise:
      'Other writes wait for at most 1 s. Each delivery arrives once, as its conditions were judged in the batch. A refused batch has none. Ordered webhooks stay in order.',
    tests: {
      'test/faults/fanout.fault.ts': [
        'a batch with 60,000 deliveries lets other writes wait for at most 1 s, and kill -9 after it loses none',
      ],
      'test/webhooks/fanout.test.ts': [
        'a write waits for less than a second of work beside a batch of 1,000 with 100 webhooks of 20 conditions',
        'each delivery of a large batch arrives once, as it was judged in the batch, also after a restart',
      ],
      'src/webhooks/delivery/fanouts.test.ts': [
        'a transaction with 3,000 deliveries inserts none of them; the backlog inserts each once',
        'a rolled-back transaction leaves nothing to insert',
        'deliveries of a webhook that is deleted before they are inserted are cancelled in the log',
        'an ordered webhook gets nothing while deliveries of it wait to be inserted, and then each record in order',
      ],
    },
  },
]
