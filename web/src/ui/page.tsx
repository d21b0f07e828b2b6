import { Group, Text, Title } from '@mantine/core'
import { useFormats } from '../app/formats.ts'
import { useTitle } from '../app/title.ts'
import './page.css'

type Props = {
  title: string
  /** The number of records, beside the title. */
  count?: number | undefined
  /** Views and filters, between the title and the actions. */
  middle?: React.ReactNode
  /** The switch between ways to show the records, in the row of tabs. */
  switcher?: React.ReactNode
  /** A row of tabs below this line. */
  tabs?: React.ReactNode
  /** A row below that, such as the chips of filters. */
  below?: React.ReactNode
  /** The primary action comes last. */
  actions?: React.ReactNode
  children: React.ReactNode
}

/** A page: one line with its title and actions, then its content. */
export function Page(props: Props) {
  const { title, count, middle, switcher, tabs, below, actions, children } = props
  const formats = useFormats()
  useTitle(title)
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-line">
          <Group gap="sm" wrap="nowrap" className="page-title">
            <Title order={1} lineClamp={1}>
              {title}
            </Title>
            {'count' in props && (
              <div className="page-count">
                {count !== undefined && (
                  <Text c="dimmed" className="numbers">
                    {formats.number(count)}
                  </Text>
                )}
              </div>
            )}
          </Group>
          <div className="page-middle">{middle}</div>
          <Group gap="sm">{actions}</Group>
        </div>
        {switcher ? (
          <div className="page-tabs">
            {switcher}
            {tabs}
          </div>
        ) : (
          tabs
        )}
        {below && <div className="page-below">{below}</div>}
      </header>
      <div className="page-content">{children}</div>
    </div>
  )
}
