import type { Program } from './program.ts'

// The headers are the names of attributes, in every language.
const contact = {
  firstName: 'first_name',
  lastName: 'last_name',
  middleName: 'middle_name',
  name: 'name',
  emailAddress: 'email',
  phoneNumber: 'phone',
  title: 'title',
  assignedUserName: 'owner',
} as const
const done = {
  Completed: 'yes',
  Held: 'yes',
  'Not Started': 'no',
  Started: 'no',
  Deferred: 'no',
  Planned: 'no',
}

export const espocrm: Program = {
  id: 'espocrm',
  label: 'EspoCRM',
  sources: [
    'espocrm/espocrm:application/Espo/Tools/Export/Format/Csv/Processor.php',
    'espocrm/espocrm:application/Espo/Modules/Crm/Resources/metadata/entityDefs/Contact.json',
    'espocrm/espocrm:application/Espo/Modules/Crm/Resources/metadata/entityDefs/Opportunity.json',
    'espocrm/espocrm:application/Espo/Modules/Crm/Resources/metadata/entityDefs/Task.json',
  ],
  decimal: '.',
  guard: "'",
  files: [
    {
      kind: 'contacts',
      evidence: ['firstName', 'lastName', 'emailAddress', ['accountName', 'assignedUserName', 'accountId']],
      columns: { ...contact, accountName: 'company', accountType: null },
    },
    {
      kind: 'companies',
      evidence: [
        'name',
        ['billingAddressStreet', 'billingAddressCity'],
        ['website', 'emailAddress', 'sicCode'],
      ],
      columns: {
        name: 'name',
        website: 'website',
        industry: 'industry',
        phoneNumber: 'phone',
        billingAddressStreet: 'address_part',
        billingAddressCity: 'address_part',
        billingAddressState: 'address_part',
        billingAddressPostalCode: 'address_part',
        billingAddressCountry: 'address_part',
        assignedUserName: 'owner',
      },
    },
    {
      kind: 'deals',
      evidence: ['name', 'stage', 'amountCurrency', 'closeDate'],
      columns: {
        name: 'name',
        amount: 'value',
        stage: {
          to: 'stage',
          values: {
            Prospecting: 'new_lead',
            Qualification: 'qualification',
            Proposal: 'proposal',
            'Proposal/Price Quote': 'proposal',
            Negotiation: 'negotiation',
            'Negotiation/Review': 'negotiation',
            'Closed Won': 'won',
            'Closed Lost': 'lost',
          },
        },
        probability: 'probability',
        closeDate: 'close_date',
        leadSource: 'source',
        accountName: 'company',
        contactName: 'contact',
        assignedUserName: 'owner',
      },
    },
    {
      // Tasks
      kind: 'activities',
      evidence: ['name', 'status', 'dateEnd', 'dateCompleted'],
      columns: {
        name: 'subject',
        description: 'body',
        dateEnd: 'due_at',
        dateCompleted: 'completed_at',
        status: { to: 'done', values: done },
        contactName: 'contact',
        accountName: 'company',
        assignedUserName: 'owner',
      },
    },
    {
      kind: 'activities',
      evidence: ['name', 'status', 'dateStart', 'duration', 'direction'],
      fixed: { type: 'call' },
      columns: {
        name: 'subject',
        description: 'body',
        dateStart: 'due_at',
        status: { to: 'done', values: done },
        accountName: 'company',
        assignedUserName: 'owner',
      },
    },
    {
      kind: 'activities',
      evidence: ['name', 'status', 'dateStart', 'duration'],
      fixed: { type: 'meeting' },
      columns: {
        name: 'subject',
        description: 'body',
        dateStart: 'due_at',
        status: { to: 'done', values: done },
        accountName: 'company',
        assignedUserName: 'owner',
      },
    },
  ],
}
