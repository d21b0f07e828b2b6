import { ActionIcon, Tooltip } from '@mantine/core'
import { GlobeIcon } from '@primer/octicons-react'
import { Facts } from '../record/facts.tsx'
import type { RecordProps } from '../record/kinds.ts'
import { RecordView } from '../record/record-view.tsx'
import { useTexts } from '../texts/texts.ts'
import { fields } from './fields.ts'
import { websiteOf } from './website.ts'

/** A company with all that belongs to it, on its page and in the side panel. */
export function CompanyRecord(props: RecordProps) {
  const t = useTexts()
  return (
    <RecordView kind="companies" {...props}>
      {(company, save) => {
        const website = websiteOf(company.website)
        const open_website = t.companies.open_website(company.name)
        return {
          subtitle: company.industry,
          actions: website && (
            <Tooltip label={open_website}>
              <ActionIcon
                component="a"
                href={website}
                target="_blank"
                rel="noopener noreferrer"
                variant="default"
                size={30}
                aria-label={open_website}
              >
                <GlobeIcon />
              </ActionIcon>
            </Tooltip>
          ),
          facts: (
            <div className="fields">
              <Facts kind="companies" record={company} fields={fields} save={save} />
            </div>
          ),
        }
      }}
    </RecordView>
  )
}
