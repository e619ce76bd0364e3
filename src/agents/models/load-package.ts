import { missingPackages } from "../../lib/missing-packages.ts"
import { ModelError } from "./model-error.ts"

/** Loads the package of a provider, which is installed only where its models are used. */
export async function loadPackage<T>(provider: string, load: () => Promise<T>): Promise<T> {
  const missing = missingPackages(`The model provider ${provider}`, [`@ai-sdk/${provider}`])
  if (missing !== undefined) throw new ModelError("missing_package", missing)
  return load()
}
