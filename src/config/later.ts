/** Keys of later versions and what they will be for. Whoever builds one deletes its row and adds its schema. */
export const laterKeys: Readonly<Record<string, string>> = {
  models: "the models that agents talk to",
}

/** The later keys of the section at `path`, by their last name. */
export function laterKeysAt(path: readonly PropertyKey[]): string[] {
  const start = path.length === 0 ? "" : `${path.join(".")}.`
  return Object.keys(laterKeys)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length))
    .filter((key) => !key.includes("."))
}
