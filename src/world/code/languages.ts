/** A language whose syntax is known: its grammar, and the file with its outline query. */
export type Language = "typescript" | "tsx" | "javascript" | "python" | "go" | "rust" | "java" | "cpp"

/** How a file is read: by the syntax tree of a grammar, or by plain search. */
export interface Reading {
  /** What people call it: C is read by the grammar of C++. */
  readonly language: string
  /** Left out for a language without a grammar here. */
  readonly grammar?: Language
}

/** How to read a file of that name; undefined for what is no source code. */
export function readingOf(name: string): Reading | undefined {
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())
}

const known: readonly (readonly [language: string, grammar: Language, extensions: string])[] = [
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

/** Source code without a grammar here. What is no source code is found by search_files. */
const others: readonly (readonly [language: string, extensions: string])[] = [
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

const byExtension = new Map<string, Reading>([
  ...known.flatMap(([language, grammar, extensions]) =>
    extensions.split(" ").map((extension) => [extension, { language, grammar }] as const),
  ),
  ...others.flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension) => [extension, { language }] as const),
  ),
])
