/** Keys of later versions and their purpose. When you build one, delete its row and add its schema. */
export const plannedKeys: Readonly<Record<string, string>> = {
  models: "the models that agents talk to",
}

/** The planned keys of the section at `path`. */
export function plannedKeysAt(path: readonly PropertyKey[]): string[] {
  const start = path.length === 0 ? "" : `${path.join(".")}.`
  return Object.keys(plannedKeys)
    .filter((key) => key.startsWith(start))
    .map((key) => key.slice(start.length))
    .filter((key) => !key.includes("."))
}
