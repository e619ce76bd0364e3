import type { CodeIndex } from "../../platform/code/code.ts"
import type { Files } from "../../platform/files/file-access.ts"
import type { SnippetStorage } from "../../store/snippet-store.ts"
import type { Tool } from "../../core/tool.ts"
import { codeQuery } from "./code-query.ts"
import { snippetDelete } from "./snippet-delete.ts"
import { snippetList } from "./snippet-list.ts"
import { snippetLoad } from "./snippet-load.ts"
import { snippetSave } from "./snippet-save.ts"

export const codeTools = (files: Files, index: CodeIndex, snippets: SnippetStorage): Tool[] => [
  codeQuery(files, index),
  snippetSave(snippets),
  snippetLoad(snippets),
  snippetList(snippets),
  snippetDelete(snippets),
]
