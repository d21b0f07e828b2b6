import { CheckIcon, KebabHorizontalIcon, PersonIcon, TrashIcon } from '@primer/octicons-react'
import { memo } from 'react'
import { Link } from '../app/link.ts'
import { OwnerAvatar } from '../record/fields/owner.tsx'
import { useNames } from '../record/kinds.ts'
import { useTexts } from '../texts/texts.ts'
import { Menu } from '../ui/floating.tsx'
import { oneClick } from '../ui/one-press.ts'
import { Money } from '../ui/values.tsx'
import { visible } from '../ui/visible.ts'
import { CloseDate, ClosedSince } from './close-date.tsx'
import type { Deal } from './deals.ts'
import { Drag } from './drag.tsx'
import { DaysInStage, NextStep } from './progress.tsx'
import { StageMark } from './stage-badge.tsx'
import { type Stage, stages } from './stages.ts'

export type CardActions = {
  open: (deal: Deal) => void
  move: (deal: Deal, to: Stage) => void
  remove: (deal: Deal) => void
  assign: (deal: Deal) => void
  /** Shows the menu of a card; null closes it. */
  menu: (id: number | null) => void
}
type Props = {
  deal: Deal
  index: number
  /** Whether the person may change deals. */
  writes: boolean
  menu_open: boolean
  shown_beside: boolean
  actions: CardActions
}

/** A deal on the board: a draggable link to its page, and a menu. */
export const Card = memo(function Card({ deal, index, writes, menu_open, shown_beside, actions }: Props) {
  const { id, name } = deal
  return (
    <Drag draggableId={String(id)} index={index} isDragDisabled={!writes}>
      {({ innerRef, draggableProps, dragHandleProps }, { isDragging, isDropAnimating }) => (
        <div
          ref={innerRef}
          {...draggableProps}
          className="card"
          data-deal={id}
          data-lifted={(isDragging && !isDropAnimating) || undefined}
          data-open={shown_beside || undefined}
        >
          <Link
            to={`/deals/${id}`}
            {...dragHandleProps}
            // It is a draggable link, not a button.
            role="link"
            aria-describedby={writes ? dragHandleProps?.['aria-describedby'] : undefined}
            draggable={false}
            className="card-link"
            onClick={(event) => {
              // Enter opens the page; a click opens the side panel.
              const plain = !event.metaKey && !event.ctrlKey && !event.shiftKey && event.detail > 0
              if (event.defaultPrevented || !plain) return
              event.preventDefault()
              actions.open(deal)
            }}
          >
            <span className="card-name">{visible(name)}</span>
            {(deal.company || deal.owner_id) && (
              <span className="card-company">
                <span className="one-line">{visible(deal.company?.name ?? '')}</span>
                <OwnerAvatar kind="deals" id={deal.owner_id} />
              </span>
            )}
            <span className="card-foot">
              <Money value={deal.value} whole />
              {deal.status === 'open' && <DaysInStage deal={deal} />}
            </span>
            <span className="card-foot">
              {deal.status === 'open' ? <CloseDate deal={deal} brief /> : <ClosedSince deal={deal} />}
              {deal.status === 'open' && <NextStep deal={deal} brief />}
            </span>
          </Link>
          {writes && <CardMenu deal={deal} opened={menu_open} actions={actions} />}
        </div>
      )}
    </Drag>
  )
})

type MenuProps = { deal: Deal; opened: boolean; actions: CardActions }

// Closed, it is a plain button: a board has hundreds of them.
function CardMenu({ deal, opened, actions }: MenuProps) {
  const t = useTexts()
  const names = useNames('deals')
  const button = (
    <button
      type="button"
      className="card-menu icon-button"
      // Not a tab stop: m opens the menu, and a stop per card would double the number of Tab presses.
      tabIndex={-1}
      aria-label={t.deals.actions_of({ name: deal.name })}
      aria-haspopup="menu"
      onClick={() => actions.menu(opened ? null : deal.id)}
    >
      <KebabHorizontalIcon size={14} />
    </button>
  )
  if (!opened) return button
  const first = stages.find((stage) => stage !== deal.stage)
  return (
    <Menu
      opened
      onChange={(open) => !open && actions.menu(null)}
      position="bottom-end"
      width={200}
      returnFocus={false}
    >
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t.deals.move_to}</Menu.Label>
        {stages.map((stage) => (
          <Menu.Item
            key={stage}
            leftSection={<StageMark stage={stage} />}
            rightSection={stage === deal.stage ? <CheckIcon size={14} /> : null}
            disabled={stage === deal.stage}
            data-autofocus={stage === first || undefined}
            onClick={() => actions.move(deal, stage)}
          >
            {t.deals.stages[stage]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<PersonIcon size={14} />} onClick={() => actions.assign(deal)}>
          {t.record.assign}
        </Menu.Item>
        <Menu.Item leftSection={<TrashIcon size={14} />} onClick={oneClick(() => actions.remove(deal))}>
          {names.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
