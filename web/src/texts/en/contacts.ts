export const contacts = {
  write_email: (name: string) => `Write an e-mail to ${name}`,
  set_stage: 'Set stage',
  remove_tag: 'Remove tag',
  stage_set: (n: number, stage: string) =>
    n === 1 ? `Stage ${stage} set for 1 contact` : `Stage ${stage} set for ${n} contacts`,
  stage_cleared: (n: number) => (n === 1 ? 'Stage cleared for 1 contact' : `Stage cleared for ${n} contacts`),
  tag_added: (n: number, tag: string) =>
    n === 1 ? `Tag ${tag} added to 1 contact` : `Tag ${tag} added to ${n} contacts`,
  tag_removed: (n: number, tag: string) =>
    n === 1 ? `Tag ${tag} removed from 1 contact` : `Tag ${tag} removed from ${n} contacts`,
}
