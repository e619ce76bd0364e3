/** A language with a grammar and an outline query. */
export type Language = "typescript" | "tsx" | "javascript" | "python" | "go" | "rust" | "java" | "cpp"

/** The search of a file: by its syntax tree, or as text if there is no grammar. */
export interface SourceLanguage {
  /** The name of the language. C uses the grammar of C++. */
  readonly language: string
  /** Left out if there is no grammar. */
  readonly grammar?: Language
}

/** Returns the language to search a file of that name by; undefined if it is not source code. */
export function sourceLanguageOf(name: string): SourceLanguage | undefined {
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())
}

const withGrammar: readonly (readonly [language: string, grammar: Language, extensions: string])[] = [
  ["typescript", "typescript", "ts mts cts"],
  ["typescript", "tsx", "tsx"],
  ["javascript", "javascript", "js mjs cjs jsx"],
  ["python", "python", "py pyi pyw"],
  ["go", "go", "go"],
  ["rust", "rust", "rs"],
  ["java", "java", "java"],
  ["c", "cpp", "c h"],
  ["cpp", "cpp", "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl"],
]

/** Languages without a grammar. Other files are searched by search_files only. */
const withoutGrammar: readonly (readonly [language: string, extensions: string])[] = [
  ["ruby", "rb rake"],
  ["php", "php"],
  ["csharp", "cs"],
  ["kotlin", "kt kts"],
  ["swift", "swift"],
  ["scala", "scala sc"],
  ["groovy", "groovy gradle"],
  ["dart", "dart"],
  ["lua", "lua"],
  ["perl", "pl pm"],
  ["shell", "sh bash zsh fish"],
  ["powershell", "ps1 psm1"],
  ["sql", "sql"],
  ["r", "r"],
  ["julia", "jl"],
  ["elixir", "ex exs"],
  ["erlang", "erl hrl"],
  ["haskell", "hs"],
  ["ocaml", "ml mli"],
  ["fsharp", "fs fsx"],
  ["clojure", "clj cljs cljc"],
  ["lisp", "el lisp scm"],
  ["objective-c", "m mm"],
  ["zig", "zig"],
  ["nim", "nim"],
  ["vue", "vue"],
  ["svelte", "svelte"],
  ["protobuf", "proto"],
  ["graphql", "graphql gql"],
  ["terraform", "tf"],
  ["solidity", "sol"],
  ["cuda", "cu cuh"],
  ["assembly", "asm s"],
]

const byExtension = new Map<string, SourceLanguage>([
  ...withGrammar.flatMap(([language, grammar, extensions]) =>
    extensions.split(" ").map((extension) => [extension, { language, grammar }] as const),
  ),
  ...withoutGrammar.flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [extension, { language }] as const),
  ),
])
