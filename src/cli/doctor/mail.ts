import type { Config } from '../../config.ts'
import { openSmtp } from '../../mails/open.ts'
import { type Finding, fault, ok } from './finding.ts'

/** Connects to the SMTP server, greets and authenticates. Sends nothing. */
export async function examineMail(config: Config): Promise<Finding[]> {
  if (config.smtp_url === null) return []
  try {
    const smtp = openSmtp(config)
    const error = await smtp?.check()
    if (!error) return [ok('mail', `The SMTP server ${smtp?.server_name} takes mails.`)]
    const told = `The SMTP server ${smtp?.server_name} cannot be used: ${error.code}, ${error.message}`
    return [fault('mail', told, mend(error.code))]
  } catch (error) {
    // The file of authorities.
    return [fault('mail', (error as Error).message, 'Let the user of the service read it, as PEM.')]
  }
}

function mend(code: string): string {
  if (code === 'auth_error') return 'Check the user and the password in SMTP_URL, percent-encoded.'
  if (code === 'tls_error')
    return 'Check the name in SMTP_URL. For an authority of your own, set SMTP_CA_FILE to its certificate.'
  return 'Check host and port in SMTP_URL, and that this machine may connect to them.'
}
