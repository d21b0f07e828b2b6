import { Button, TextInput } from '@mantine/core'
import { CheckCircleFillIcon, CircleSlashIcon } from '@primer/octicons-react'
import { useMemo } from 'react'
import { useCommands } from '../app/commands.ts'
import { useFormats } from '../app/formats.ts'
import { Link, useNavigate } from '../app/link.ts'
import { useMay } from '../app/session.ts'
import { ZoneInput } from '../people/inputs.tsx'
import { useNames } from '../record/kinds.ts'
import { useRefreshAfter } from '../record/refresh.ts'
import { useTexts } from '../texts/with-booking.ts'
import { CopyButton } from '../ui/copy.tsx'
import { Empty } from '../ui/empty.tsx'
import { FormDialog } from '../ui/form.tsx'
import { ListTable, useListPage } from '../ui/list-page.tsx'
import { dated, useCreating, useListView } from '../ui/list-view.ts'
import { Page } from '../ui/page.tsx'
import type { Column } from '../ui/table.tsx'
import { Ago } from '../ui/values.tsx'
import { bookingPagesQuery, type ListedBookingPage, publicAddress } from './booking.ts'
import { bookingPagesApi } from './kind.ts'
import './booking.css'

/** The booking pages. */
export function BookingPagesPage() {
  const names = useNames('booking_pages')
  const calendar = useNames('appointments')
  const may = useMay()('booking_pages:write')
  const view = useListView(undefined, '-updated_at', dated)
  const [creating, setCreating] = useCreating()
  const page = useListPage(bookingPagesQuery(view.page, view.sort), view)
  const columns = useColumns()
  const create = () => setCreating(true)
  useCommands(
    [{ id: 'create-booking-page', label: names.create, group: 'create', keys: 'c', run: create }],
    may,
  )
  return (
    <Page
      title={names.many}
      count={page.meta?.total}
      actions={
        <>
          <Button variant="default" component={Link} to="/calendar">
            {calendar.page}
          </Button>
          {may && <Button onClick={create}>{names.create}</Button>}
        </>
      }
    >
      <ListTable
        label={names.many}
        columns={columns}
        page={page}
        nameOf={({ title }) => title}
        hrefOf={({ id }) => `/booking-pages/${id}`}
        sort={view.sort}
        onSort={view.setSort}
        empty={<Empty text={names.none} {...(may && { action: names.create, onAction: create })} />}
      />
      {may && <CreateBookingPage opened={creating} onClose={() => setCreating(false)} />}
    </Page>
  )
}

function useColumns(): Column<ListedBookingPage>[] {
  const t = useTexts()
  return useMemo(
    () => [
      { id: 'title', label: t.fields.title, cell: ({ title }) => title },
      {
        id: 'slug',
        label: t.booking.slug,
        phone: true,
        width: 300,
        cell: ({ slug }) => (
          <span className="booking-address">
            <a href={`/book/${slug}`} target="_blank" rel="noreferrer" title={t.booking.open_public}>
              /book/{slug}
            </a>
            <CopyButton value={publicAddress(slug)} label={t.booking.copy_address} />
          </span>
        ),
      },
      {
        id: 'active',
        label: t.booking.state,
        cell: ({ active }) => (
          <span className="booking-state" data-active={active || undefined}>
            {active ? <CheckCircleFillIcon size={14} /> : <CircleSlashIcon size={14} />}
            {active ? t.fields.active : t.calendar.inactive}
          </span>
        ),
      },
      {
        id: 'duration',
        label: t.booking.duration,
        number: true,
        cell: ({ duration_minutes }) => t.calendar.minutes({ n: duration_minutes }),
      },
      { id: 'time_zone', label: t.fields.time_zone, cell: ({ time_zone }) => time_zone },
      {
        id: 'updated_at',
        label: t.fields.updated_at,
        sort: 'updated_at',
        down: true,
        cell: ({ updated_at }) => <Ago at={updated_at} />,
      },
    ],
    [t],
  )
}

/** The suggested address for a title: lower-case letters, digits and hyphens. */
const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 64)
    .replace(/-+$/, '')

/**
 * Asks for the fields without a default. The service sets the rest, such as Monday to Friday, nine to five.
 */
function CreateBookingPage({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const t = useTexts()
  const { zone } = useFormats()
  const navigate = useNavigate()
  const refresh = useRefreshAfter('booking_pages')
  const names = useNames('booking_pages')
  return (
    <FormDialog
      draft="create-booking-page"
      title={names.create}
      action={names.create}
      opened={opened}
      onClose={onClose}
      start={{ title: '', slug: '', time_zone: zone }}
      send={bookingPagesApi.create}
      onSent={({ id }, over) => {
        refresh()
        if (!over) navigate({ to: `/booking-pages/${id}` })
      }}
    >
      {({ values, setValues, getInputProps }) => (
        <>
          <TextInput
            label={t.fields.title}
            required
            maxLength={255}
            data-autofocus
            {...getInputProps('title')}
            onChange={({ currentTarget: { value: title } }) => {
              const follows = values.slug === slugOf(values.title)
              setValues({ title, ...(follows && { slug: slugOf(title) }) })
            }}
          />
          <TextInput
            label={t.booking.slug}
            description={t.booking.slug_hint}
            required
            maxLength={64}
            leftSection={<span className="hint">/book/</span>}
            leftSectionWidth={56}
            {...getInputProps('slug')}
          />
          <ZoneInput description={t.booking.time_zone_hint} {...getInputProps('time_zone')} />
        </>
      )}
    </FormDialog>
  )
}
