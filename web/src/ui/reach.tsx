import { Button } from '@mantine/core'
import { DeviceMobileIcon, type Icon, MailIcon } from '@primer/octicons-react'
import { useTexts } from '../texts/texts.ts'
import { Menu } from './floating.tsx'
import { PageAction } from './page-action.tsx'
import { telephoneOf } from './telephone.ts'

/** A person to call or write to. */
export type Reachable = { name: string; email: string | null; phone: string | null; mobile: string | null }

type Way = { name: string; href: string }

/** Calls and writes to people, by one click. Of several people, a menu offers those who can be reached. */
export function Reach({ people }: { people: readonly Reachable[] }) {
  const { contacts, record } = useTexts()
  const called = people.flatMap(({ name, mobile, phone }): Way[] => {
    const href = telephoneOf(mobile) ?? telephoneOf(phone)
    return href ? [{ name, href }] : []
  })
  const written = people.flatMap(({ name, email }): Way[] =>
    email ? [{ name, href: `mailto:${email}` }] : [],
  )
  return (
    <>
      <Ways
        ways={called}
        icon={DeviceMobileIcon}
        word={record.actions.call}
        label={contacts.call}
        choose={contacts.call_someone}
      />
      <Ways
        ways={written}
        icon={MailIcon}
        word={record.actions.email}
        label={contacts.write_email}
        choose={contacts.write_someone}
      />
    </>
  )
}

type WaysProps = {
  ways: Way[]
  icon: Icon
  word: string
  label: (values: { name: string }) => string
  choose: string
}

function Ways({ ways, icon: Sign, word, label, choose }: WaysProps) {
  const [only, more] = ways
  if (!only) return null
  if (!more) return <PageAction word={word} label={label(only)} icon={Sign} href={only.href} />
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" aria-label={choose} title={choose} leftSection={<Sign size={14} />}>
          {word}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {ways.map(({ name, href }) => (
          <Menu.Item key={`${name} ${href}`} component="a" href={href}>
            {label({ name })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
