import type { Fault } from '../table.ts'

/** Faults of receivers and their networks. */
export const receivers: Fault[] = [
  {
    number: 10,
    fault: 'A receiver never answers.',
    promise: 'The attempt ends with `timeout` after 10 s and is retried. No other webhook is delayed.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a receiver that never answers, or sends headers byte by byte, times out at the deadline of the attempt',
        'receivers that hang do not delay others',
      ],
      'test/webhooks/outcome.test.ts': ['an attempt ends at its timeout, by default 10 seconds'],
    },
  },
  {
    number: 11,
    fault: 'A receiver sends headers or a body at one byte a second.',
    promise:
      'Slow headers: `timeout` at the deadline. A slow body after a 2xx: the delivery succeeds, the body is cut, and the connection is closed.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a receiver that never answers, or sends headers byte by byte, times out at the deadline of the attempt',
        'after the headers only the status counts: a slow, broken or invalid body is cut',
      ],
    },
  },
  {
    number: 12,
    fault: 'A receiver sends an endless answer.',
    promise: '16 KiB are kept, and the connection is closed. The status decides the outcome.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'an endless response is cut at 16 KiB, and its connection is closed',
        'an answer of exactly 16 KiB is kept whole, and longer ones to that length',
      ],
    },
  },
  {
    number: 13,
    fault: 'A receiver answers with a gzip bomb.',
    promise: 'The request does not accept compression. The answer is never decompressed.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a request does not accept compression, and a compressed answer is never decompressed',
      ],
    },
  },
  {
    number: 14,
    fault: 'The answer is not HTTP, has headers above 16 KiB, or has an invalid chunk.',
    promise: 'The attempt ends with `protocol_error` and is retried.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'an answer that is not valid HTTP, or has headers over 16 KiB, is a protocol_error',
      ],
    },
  },
  {
    number: 15,
    fault: 'Unknown name, refused connection, reset connection, or invalid certificate',
    promise:
      'The attempt ends with `dns_error`, `connection_refused`, `connection_reset` or `tls_error`, and is retried.',
    tests: {
      'src/webhooks/delivery/connector.test.ts': [
        'an unknown name, a silent name server and a refused connection have different errors',
        'a certificate that is trusted, in date and for this host is accepted; any other is a tls_error',
      ],
      'test/webhooks/outcome.test.ts': ['the log shows the documented error codes'],
    },
  },
  {
    number: 16,
    fault: 'A kept-alive connection closes before the first byte of the answer.',
    promise: 'The same attempt opens one new connection.',
    tests: {
      'src/webhooks/delivery/connections.test.ts': [
        'a kept-alive connection that dies without a byte is replaced once within the attempt',
        'the replacement is a new connection, not another one that was kept alive',
      ],
    },
  },
  {
    number: 17,
    fault: 'A receiver redirects to the metadata address of the cloud.',
    promise: 'The attempt ends with `redirect_not_followed`. The target gets no request.',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': ['a redirect is a failure and its target is never contacted'],
    },
  },
  {
    number: 18,
    fault: 'Private address, in any spelling',
    promise:
      'Registration answers 422 `url_not_allowed`. A send ends with `address_blocked` and sends no packet.',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'an IP address in any spelling is checked as an address, without a lookup',
        'cloud metadata is always refused, also when a network list contains it and in every carried form',
        'localhost is loopback in every spelling',
      ],
      'src/webhooks/delivery/connector.test.ts': [
        'an address that is not allowed gets no packet, in any spelling of the URL',
      ],
    },
  },
  {
    number: 19,
    fault: 'DNS rebinding, or public and private addresses for one name',
    promise:
      'The attempt ends with `address_blocked`. Rapport connects to the address that it checked. One private address blocks all addresses of the name.',
    tests: {
      'src/webhooks/delivery/connector.test.ts': [
        'the address that was checked is the one dialled: a name is resolved once per connection',
        'one address that is not allowed among many blocks them all',
      ],
    },
  },
  {
    number: 20,
    fault: 'URL with a password, a fragment, port 0 or line breaks',
    promise: '422',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'a URL that a parser would read differently from a person is refused',
      ],
      'test/webhooks/registration.test.ts': [
        'a url with a password, a fragment, port 0, dropped characters or no host is refused',
      ],
    },
  },
  {
    number: 21,
    fault: '410, or 429 or 503 with `Retry-After`',
    promise:
      'They are failures like all others. The schedule decides the time of the retry, not the receiver.',
    tests: {
      'test/webhooks/refusals.test.ts': [
        '410, and 429 or 503 with Retry-After, are failures like all others: only the schedule decides the time of the retry',
      ],
      'test/webhooks/outcome.test.ts': [
        '200 to 299 is a success and nothing else is; a redirect is not followed',
      ],
      'src/webhooks/delivery/deliver.test.ts': [
        '2xx is a success and nothing else is; a refusal keeps its answer',
      ],
    },
  },
  {
    number: 26,
    fault: 'Backlog of 100,000 deliveries for one webhook, and an event for another webhook',
    promise: 'The other webhook gets the event within 1 s.',
    tests: {
      'test/faults/backlog.fault.ts': [
        'a backlog of 100,000 for one slow webhook: an event of another one arrives within a second',
      ],
      'test/postgres/backlog.test.ts': [
        'a backlog of 100,000 deliveries for one slow webhook delays no other by a second (…)',
      ],
    },
  },
  {
    number: 27,
    fault: '50 webhooks hang beside 50 healthy ones.',
    promise: 'The p95 of the healthy ones is at most 1.2 times their p95 alone.',
    tests: {
      'test/webhooks/isolation.test.ts': [
        'twenty webhooks that hang do not delay a healthy one',
        'more hanging webhooks than one round reads, each with a backlog, do not block a healthy one',
      ],
      'test/faults/hanging.fault.ts': [
        '50 webhooks that hang beside 50 healthy ones: p95 of the healthy ones is at most 1.2 times as long',
      ],
    },
  },
  {
    number: 31,
    fault: 'The name server hangs.',
    promise: 'The lookup fails after 3 s. Other hosts and all other work are not delayed.',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'a name server that never answers delays a registration by three seconds, then the name is accepted',
      ],
      'src/webhooks/delivery/resolve.test.ts': [
        'lookups of a name server that never answers fail after 3 s; other lookups and files are not delayed',
        'lookups of unknown names use no thread that passwords and files need',
      ],
      'src/webhooks/delivery/connector.test.ts': [
        'an unknown name, a silent name server and a refused connection have different errors',
      ],
    },
  },
  {
    number: 51,
    fault: 'A receiver answers 500 for some records, or does not answer for them.',
    promise:
      'An event of another record of the same webhook is sent within 2 s, beside a backlog of 400 failing ones, ordered or not.',
    tests: {
      'test/webhooks/failing-records.test.ts': [
        'an event does not wait for … … that the receiver does not answer…',
        'an event does not wait for failing retries that come due at once',
        'with max_per_second, an event behind failing ones is among the first that are sent',
        'the oldest events of failing records are sent beside the newest',
      ],
      'test/faults/failing-records.fault.ts': [
        'behind 400 events of failing records, an event of another one arrives within two seconds, at any speed of the answers',
      ],
    },
  },
]
