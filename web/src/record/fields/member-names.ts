import { visible } from '../../ui/visible.ts'

type Named = { id: string; name: string; email: string }

/** The members in the order of a choice: the person first, the others by name. */
export function orderedMembers<One extends Named>(members: readonly One[], self: string): One[] {
  const others = members.filter(({ id }) => id !== self).sort((a, b) => a.name.localeCompare(b.name))
  return [...members.filter(({ id }) => id === self), ...others]
}

/** The name of a member in a choice, with the e-mail if another member has the same name. */
export const choiceNameOf = ({ id, name, email }: Named, members: readonly Named[]): string =>
  visible(members.some((other) => other.id !== id && other.name === name) ? `${name} (${email})` : name)
