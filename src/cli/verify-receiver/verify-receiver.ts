import { trusted } from '../../http/authorities.ts'
import { secretProblem } from '../../webhooks/delivery/signature.ts'
import { type Command, UsageError } from '../command.ts'
import { counted } from '../text.ts'
import { verdictsOf } from './rules.ts'

export const verifyReceiver: Command = {
  operands: ['URL'],
  options: {
    secret: { value: 'S', about: 'The secret that the receiver knows; default: RAPPORT_WEBHOOK_SECRET' },
  },
  notes: [
    'It sends about 20 requests. Each event is an example with "test": true. Use a receiver that does no work for it.',
    'The exit code is 1 if the receiver breaks a rule. WEBHOOK_TIMEOUT_MS is the limit of each answer.',
    'It accepts certificates as the service does: also those of WEBHOOK_CA_FILE.',
  ],
  async run({ operands, options, config, io }) {
    const [text = ''] = operands
    const url = URL.parse(text)
    if (!url || !/^https?:$/.test(url.protocol))
      throw new UsageError('URL must begin with http:// or https://.')
    const secret = options.secret ?? io.env.RAPPORT_WEBHOOK_SECRET
    if (!secret) throw new UsageError('--secret is required.')
    const problem = secretProblem(secret)
    if (problem) throw new UsageError(`--${problem}`)
    const { webhook_timeout_ms: timeout_ms, webhook_ca_file } = config()
    const limits = { timeout_ms, secureContext: trusted('WEBHOOK_CA_FILE', webhook_ca_file) }
    let broken = 0
    for await (const { rule, is_kept, seen, advice } of verdictsOf(url.href, secret, limits)) {
      const word = is_kept === null ? 'not tried' : is_kept ? 'keeps' : 'breaks'
      io.out(`${word.padEnd(10)} ${rule}: ${seen}`)
      if (!is_kept) io.out(`${' '.repeat(11)}-> ${advice}`)
      if (is_kept === false) broken++
    }
    io.out(
      broken
        ? `The receiver breaks ${counted(broken, 'rule')}.`
        : 'The receiver keeps all rules that were tried.',
    )
    return broken ? 1 : 0
  },
}
