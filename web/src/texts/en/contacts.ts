export const contacts = {
  no_stage: 'No stage',
  same_email: 'Another contact has this e-mail:',
  call: (name: string) => `Call ${name}`,
  write_email: (name: string) => `Write an e-mail to ${name}`,
  call_someone: 'Call a contact of the company',
  write_someone: 'Write an e-mail to a contact of the company',
  set_stage: 'Set stage',
  stage_set: (n: number, written: string, stage: string) =>
    n === 1 ? `Stage ${stage} set for 1 contact` : `Stage ${stage} set for ${written} contacts`,
  stage_cleared: (n: number, written: string) =>
    n === 1 ? 'Stage cleared for 1 contact' : `Stage cleared for ${written} contacts`,
}
