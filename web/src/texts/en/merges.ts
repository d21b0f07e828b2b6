type Names = { one: string; many: string }
const some = (n: number, written: string, { one, many }: Names) =>
  n === 1 ? `1 ${one.toLowerCase()}` : `${written} ${many.toLowerCase()}`

/** The texts of duplicates and merges. */
export const merges = {
  find: (many: string) => `Find duplicate ${many.toLowerCase()}`,
  duplicates: (many: string) => `Duplicate ${many.toLowerCase()}`,
  none: (many: string) => `No ${many.toLowerCase()} look alike.`,
  searching: 'Searching for more',
  reasons: { email: 'Same e-mail', phone: 'Same phone number', name: 'Same name' },
  more: (n: number) => `and ${n} more`,
  compare: 'Compare and merge',
  compare_with: (names: string) => `Compare and merge ${names}`,
  merge: 'Merge',
  merge_with: 'Merge with…',
  merge_with_hint: (one: string) => `Search for the other ${one.toLowerCase()}`,
  title: (many: string) => `Merge ${many.toLowerCase()}`,
  survivor: 'Stays',
  survivor_hint: 'The others go to the trash. Their tags and custom fields are added.',
  select: (field: string, value: string, name: string) => `${field}: ${value}, of ${name}`,
  keep: (name: string) => `${name} stays`,
  added_together: (field: string) => `${field}, together`,
  linked: 'Belongs to it',
  moves: (n: string, name: string) => `What belongs to the others moves to ${name}: ${n}.`,
  nothing_moves: 'Nothing belongs to the others, so nothing moves.',
  counted: (n: number, written: string, names: Names) => some(n, written, names),
  notes: { one: 'Note', many: 'Notes' },
  action: (n: number, written: string, names: Names) => `Merge ${some(n, written, names)}`,
  done: (n: number, written: string, names: Names) => `${some(n, written, names)} merged`,
  undone: 'The merge is undone.',
  undone_partly: (n: string) => `The merge is undone. ${n} records were changed since, and stay as they are.`,
  too_few: 'To merge, choose two records that still exist.',
  choose_other: 'Back to the list',
  merged: 'Merged',
  merged_into: (n: number, written: string, names: Names) =>
    `${some(n, written, names)} merged into this one`,
  merging: 'The merge is under way.',
  undo_merge: 'Undo the merge',
  moved_on: (one: string) => `This ${one.toLowerCase()} was merged. Here is the one that stayed.`,
}
