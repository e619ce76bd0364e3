/** The creator of the roles, departments and agents of the sample organisation. They are removed by this mark. */
export const sampleMaker = "sample"

/** The files of the sample's workspace. */
export const sampleFiles = [
  "package.json",
  "src/greet.js",
  "test/greet.test.js",
  "docs/notes.md",
  "data/customers.csv",
] as const
