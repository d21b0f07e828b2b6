// Values of filters by a day that move with the calendar, as the API reads them (docs/lists.md, Relative dates).

const of_units = ['week', 'month', 'quarter', 'year'].flatMap((unit) =>
  ['this', 'last', 'next'].map((which) => `${which}_${unit}`),
)
const counted = ['last_N_days', 'next_N_days', 'more_than_N_days_ago', 'in_more_than_N_days']

/** The words of a field; N stands for a number of days. */
export const relativeForms = (relative: true | 'due'): string[] => [
  ...(relative === 'due' ? ['overdue'] : []),
  ...['today', 'yesterday', 'tomorrow'],
  ...of_units,
  ...counted,
]

/** The form of a word and its number of days; null for another text. */
export function readRelative(text: string): { form: string; days: number | null } | null {
  const [, days] = /_(\d{1,4})_days/.exec(text) ?? []
  const form = text.replace(/_\d{1,4}_days/, '_N_days')
  const is_known = form.includes('_N_') === (days !== undefined) && relativeForms('due').includes(form)
  return is_known ? { form, days: days === undefined ? null : Number(days) } : null
}

/** The word of a form with a number of days. */
export const writeRelative = (form: string, days: number | null): string =>
  form.replace('_N_', `_${days ?? 30}_`)
