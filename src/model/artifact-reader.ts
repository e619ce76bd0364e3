/** The tool by which models read artifacts in parts. Notes about results that were cut name it, where the model has it. */
export const artifactReader = "get_artifact"
