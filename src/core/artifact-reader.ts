import type { ArtifactPart, EndedCall } from "./result.ts"

/** The tool by which models read artifacts in parts. Notes about results that were cut name it, where the model has it. */
export const artifactReader = "get_artifact"

/** Fields of the `metadata` of a result that is a part of an artifact, so that a long one is not stored a second time. */
export function readFrom(stored: string, part: ArtifactPart): Record<string, unknown> {
  return { readFrom: { stored, part } }
}

/** The artifact that a long result is a part of. */
export function artifactRead(
  metadata: Readonly<Record<string, unknown>> | undefined,
  total: number,
): EndedCall["truncated"] {
  const read = metadata?.["readFrom"] as { stored: string; part: ArtifactPart } | undefined
  return read && { total, ...read }
}
