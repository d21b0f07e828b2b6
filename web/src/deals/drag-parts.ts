// The parts that are loaded after the first screen of the board.
export { DragDropContext, Draggable, Droppable } from '@hello-pangea/dnd'
export { scrollAtEdges } from '../ui/drag-scroll.ts'
