import { attio } from './attio.ts'
import { close } from './close.ts'
import { espocrm } from './espocrm.ts'
import { google } from './google.ts'
import { hubspot } from './hubspot.ts'
import { linkedin } from './linkedin.ts'
import { outlook } from './outlook.ts'
import { pipedrive } from './pipedrive.ts'
import type { Program } from './program.ts'
import { salesforce } from './salesforce.ts'
import { thunderbird } from './thunderbird.ts'
import { twenty } from './twenty.ts'
import { zoho } from './zoho.ts'

/** All programs, in the order in which a person chooses one. Apple Contacts writes no CSV, and Monica none of contacts. */
export const programs: readonly Program[] = [
  hubspot,
  pipedrive,
  salesforce,
  zoho,
  google,
  outlook,
  thunderbird,
  linkedin,
  close,
  attio,
  twenty,
  espocrm,
]
