import { known_stages, type OwnStage, stageVariable } from './stages.ts'

/** Draws the stages in the colours of the workspace. */
export function colourStages(own: readonly OwnStage[]): void {
  const { style } = document.documentElement
  for (const stage of known_stages) {
    const colour = own.find((one) => one.stage === stage)?.colour
    // A dark page needs a lighter tone.
    if (colour)
      style.setProperty(
        stageVariable(stage),
        `light-dark(${colour}, color-mix(in srgb, ${colour} 75%, white))`,
      )
    else style.removeProperty(stageVariable(stage))
  }
}
