import type { Fault } from '../table.ts'

/** What receivers and their networks do. */
export const receivers: Fault[] = [
  {
    number: 10,
    fault: 'a receiver never answers',
    promise: '`timeout` after 10 s in all; retried; no other webhook is delayed',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a receiver that never answers, or drips its headers, times out when the whole time is over',
        'receivers that hang hold up no other',
      ],
      'test/webhooks-delivery.test.ts': [
        'an attempt ends when its whole time is over, 10 seconds unless set otherwise',
      ],
    },
  },
  {
    number: 11,
    fault: 'headers or a body of a byte a second',
    promise: 'headers: `timeout` at the deadline; body after a 2xx: succeeded, cut, the connection dropped',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a receiver that never answers, or drips its headers, times out when the whole time is over',
        'after the headers only the status counts: a body that drips, breaks or breaks the rules is cut',
      ],
    },
  },
  {
    number: 12,
    fault: 'an endless answer',
    promise: '16 KiB are kept, the connection is dropped; the status decides',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'an endless response is cut at 16 KiB, its connection dropped, and its sender not listened to',
        'an answer of exactly 16 KiB is kept whole, and longer ones to that length',
      ],
    },
  },
  {
    number: 13,
    fault: 'a gzip bomb as an answer',
    promise: 'asked for no compression, and never inflated',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': ['a compressed answer is asked not to be, and never inflated'],
    },
  },
  {
    number: 14,
    fault: 'no HTTP, headers over 16 KiB, a bad chunk',
    promise: '`protocol_error`, retried',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'an answer that is not valid HTTP, or has headers over 16 KiB, is a protocol_error',
      ],
    },
  },
  {
    number: 15,
    fault: 'no such name, refused, reset, a wrong certificate',
    promise: '`dns_error`, `connection_refused`, `connection_reset`, `tls_error`; each retried',
    tests: {
      'src/webhooks/delivery/connector.test.ts': [
        'no such name, no answer of the name server and a refused connection are told apart',
        'a certificate that is trusted, in date and for this host is accepted; any other is a tls_error',
      ],
      'test/webhooks-delivery.test.ts': ['the log tells what went wrong by the documented codes'],
    },
  },
  {
    number: 16,
    fault: 'a kept-alive connection dies without a byte',
    promise: 'one new connection in the same attempt',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': [
        'a kept-alive connection that dies without a byte is replaced once within the attempt',
        'the replacement is a new connection, not another one that was kept alive',
      ],
    },
  },
  {
    number: 17,
    fault: 'a redirect to the metadata of the cloud',
    promise: '`redirect_not_followed`; the target sees nothing',
    tests: {
      'src/webhooks/delivery/deliver.test.ts': ['a redirect is a failure and its target is never contacted'],
    },
  },
  {
    number: 18,
    fault: 'a private address, in any spelling',
    promise: '422 `url_not_allowed` at registration and `address_blocked` at send; no packet',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'an IP address in any spelling is judged by the address, without a look-up',
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
    fault: 'DNS rebinding, public and private answers together',
    promise: '`address_blocked`: the address that is judged is dialled, and one private address blocks all',
    tests: {
      'src/webhooks/delivery/connector.test.ts': [
        'the address that was checked is the one dialled: a name is resolved once per connection',
        'one address that is not allowed among many blocks them all',
      ],
    },
  },
  {
    number: 20,
    fault: 'a URL with a password, a fragment, port 0, line breaks',
    promise: '422',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'a URL that a parser would read differently from a person is refused',
      ],
      'test/webhooks-registration.test.ts': [
        'a url with a password, a fragment, port 0, dropped characters or no host is refused',
      ],
    },
  },
  {
    number: 21,
    fault: '410, and 429 or 503 with Retry-After',
    promise: 'failures as all others, retried by the schedule: the receiver sets no time',
    tests: {
      'test/webhooks-refusals.test.ts': [
        '410, and 429 or 503 with Retry-After, are failures like all others: the schedule alone says when the retry comes',
      ],
      'test/webhooks-delivery.test.ts': [
        '200 to 299 is a success and nothing else is; a redirect is not followed',
      ],
      'src/webhooks/delivery/deliver.test.ts': [
        '2xx is a success and nothing else is; a refusal keeps its answer',
      ],
    },
  },
  {
    number: 26,
    fault: 'a backlog of 100,000 for one webhook, an event for another',
    promise: 'the other one gets it within 1 s',
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
    fault: '50 webhooks hang beside 50 healthy ones',
    promise: 'p95 of the healthy ones ≤ 1.2 times what it was alone',
    tests: {
      'test/webhooks-isolation.test.ts': [
        'twenty webhooks that hang do not delay a healthy one',
        'more hanging webhooks than one round looks at, each with a backlog, leave room for a healthy one',
      ],
      'test/faults/hanging.fault.ts': [
        '50 webhooks that hang beside 50 healthy ones: p95 of the healthy ones is at most 1.2 times as long',
      ],
    },
  },
  {
    number: 31,
    fault: 'the name server hangs',
    promise: 'the look-up fails after 3 s; other hosts and everything else are not delayed',
    tests: {
      'src/webhooks/registration/target.test.ts': [
        'a name server that never answers holds registration up for three seconds, then the name is accepted',
      ],
      'src/webhooks/delivery/resolve.test.ts': [
        'a name server that never answers fails its own look-ups after 3 s; others and files are not delayed',
        'names that do not exist occupy none of the threads that passwords and files need',
      ],
      'src/webhooks/delivery/connector.test.ts': [
        'no such name, no answer of the name server and a refused connection are told apart',
      ],
    },
  },
]
