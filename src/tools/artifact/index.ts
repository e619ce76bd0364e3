import type { Tool } from "../../core/tool.ts"
import { getArtifact } from "./get-artifact.ts"
import { putArtifact } from "./put-artifact.ts"

export const artifactTools = (): Tool[] => [putArtifact(), getArtifact()]
