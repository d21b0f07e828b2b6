import { Button, Skeleton } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { useFormats } from '../app/formats.ts'
import { ProblemNote } from '../app/problems.tsx'
import { useTexts } from '../texts/texts.ts'
import { useDrawn } from '../ui/drawn.ts'
import { Popover } from '../ui/floating.tsx'
import { Card, type CardActions } from './card.tsx'
import { type BoardFilter, type BoardOrder, useColumn, useRecentlyClosed } from './columns.ts'
import type { Deal } from './deals.ts'
import { Drop, useMayDrag } from './drag.tsx'
import { LostReason } from './lost-reason.tsx'
import type { Move } from './moves.ts'
import { StageMark } from './stage-badge.tsx'
import { isOpen, type Stage } from './stages.ts'

type Props = {
  stage: Stage
  sums: { count: number; value: number } | undefined
  sort: BoardOrder
  filter: BoardFilter
  moves: ReadonlyMap<number, Move>
  held: boolean
  writes: boolean
  menu: number | null
  open_id: string | null
  actions: CardActions
  onCreate: (stage: Stage) => void
  /** The deal whose reason for the loss this column asks for. */
  asked: Deal | null
  onReason: (reason: string) => void
  onPutBack: () => void
}

const least_card_px = 100

/** The deals of a stage, 25 at a time. */
export function BoardColumn(props: Props) {
  const { stage, sums: of_all, sort, filter, moves, held, writes, menu, open_id, actions, onCreate } = props
  const { asked, onReason, onPutBack } = props
  const t = useTexts()
  const formats = useFormats()
  const [all, setAll] = useState(isOpen(stage))
  const column = useColumn(stage, sort, filter, moves, held, all)
  const recent = useRecentlyClosed(stage, filter, moves, held)
  const sums = all ? of_all : recent
  const { deals, error, more, loading_more, readMore, refetch } = column
  const name = t.deals.stages[stage]
  const value = sums ? formats.sum(sums.value) : ''
  const older = all || !of_all || !recent ? 0 : of_all.count - recent.count
  // The board is drawn anew when cards can be dragged.
  const cards = useDrawn(deals, least_card_px, useMayDrag())
  const left = (sums?.count ?? 0) - (deals?.length ?? 0)
  return (
    <Drop droppableId={stage} isDropDisabled={!writes}>
      {({ innerRef, droppableProps, placeholder }, { isDraggingOver }) => (
        <section
          className={`column stage-${stage}`}
          data-stage={stage}
          data-over={isDraggingOver || undefined}
          aria-label={sums ? `${name}: ${t.deals.count({ n: sums.count })}, ${value}` : name}
        >
          <Reason asked={asked} onReason={onReason} onPutBack={onPutBack}>
            <header className="column-head">
              <h2 className="column-name">
                <StageMark stage={stage} />
                <span title={name}>{name}</span>
                {sums && <Count count={sums.count} />}
              </h2>
              {writes && stage !== 'lost' && (
                <button
                  type="button"
                  className="column-add icon-button"
                  aria-label={t.deals.create_in({ stage: name })}
                  title={t.deals.create_in({ stage: name })}
                  onClick={() => onCreate(stage)}
                >
                  <PlusIcon size={14} />
                </button>
              )}
              <div className="column-sum numbers one-line" title={value}>
                <span>{value || '\u00a0'}</span>
                {!all && <span className="column-since">{t.deals.recently}</span>}
              </div>
            </header>
          </Reason>
          <div ref={innerRef} {...droppableProps} className="column-cards">
            {cards?.map((deal, index) => (
              <Card
                key={deal.id}
                deal={deal}
                index={index}
                writes={writes}
                menu_open={menu === deal.id}
                shown_beside={open_id === String(deal.id)}
                actions={actions}
              />
            ))}
            {placeholder}
            {!deals && !error && <Placeholder />}
            {deals?.length === 0 && !isDraggingOver && <p className="column-none">{t.deals.none_here}</p>}
            {older > 0 && !more && (
              <Button
                variant="subtle"
                color="gray"
                fullWidth
                className="column-more"
                onClick={() => setAll(true)}
              >
                {t.deals.show_older({ n: older })}
              </Button>
            )}
            {error && <ProblemNote error={error} onRetry={() => refetch()} />}
            {more && (
              <Button
                variant="subtle"
                color="gray"
                fullWidth
                className="column-more"
                loading={loading_more}
                onClick={readMore}
              >
                {t.deals.show_more({ n: Math.max(0, left) })}
              </Button>
            )}
          </div>
        </section>
      )}
    </Drop>
  )
}

/** The number of deals: whole in a wide column, short in a narrow one. */
function Count({ count }: { count: number }) {
  const formats = useFormats()
  const [whole, short] = [formats.number(count), formats.shortCount(count)]
  return (
    <span className="column-count numbers" title={whole}>
      {short === whole ? (
        whole
      ) : (
        <>
          <span className="column-count-whole">{whole}</span>
          <span className="column-count-short">{short}</span>
        </>
      )}
    </span>
  )
}

type ReasonProps = Pick<Props, 'asked' | 'onReason' | 'onPutBack'> & { children: React.ReactNode }

/** The question for the reason, at the top of the column. */
function Reason({ asked, onReason, onPutBack, children }: ReasonProps) {
  const t = useTexts()
  if (!asked) return children
  return (
    <Popover
      opened
      onChange={(open) => !open && onPutBack()}
      position="bottom"
      width={272}
      trapFocus
      withRoles={false}
      shadow="md"
    >
      <Popover.Target>{children as React.ReactElement}</Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={t.deals.why_lost({ name: asked.name })}>
        <LostReason
          question={t.deals.why_lost({ name: asked.name })}
          cancel={t.deals.put_it_back}
          onReason={onReason}
          onCancel={onPutBack}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

function Placeholder() {
  return ['a', 'b', 'c'].map((key) => (
    <div key={key} className="card card-awaited" aria-hidden>
      <Skeleton height={10} width="80%" />
      <Skeleton height={10} width="50%" mt={10} />
      <Skeleton height={10} width="65%" mt={10} />
    </div>
  ))
}
