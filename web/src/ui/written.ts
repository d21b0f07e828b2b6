/** The fields of a record whose values differ from those of another one. */
export function written<Fields extends object>(now: Fields, before: Partial<Fields>): Partial<Fields> {
  const differs = (field: string, value: unknown) =>
    JSON.stringify(value) !== JSON.stringify(before[field as keyof Fields])
  return Object.fromEntries(
    Object.entries(now).filter(([field, value]) => differs(field, value)),
  ) as Partial<Fields>
}
