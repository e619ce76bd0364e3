import type { IconName } from "../ui/icon-paths.ts"
import type { Words } from "../words/en.ts"

export interface Page {
  readonly to: "/inbox" | "/chat" | "/documents" | "/organisation" | "/tools" | "/rules" | "/activity" | "/audit"
  readonly icon: IconName
  readonly label: (words: Words) => string
  /** On a phone it stands in the menu: there is room for few tabs. */
  readonly isNotTab?: true
}

/** The navigation, by what people come to do. Only pages that exist are here. */
export const sections: readonly { readonly label: (words: Words) => string; readonly pages: readonly Page[] }[] = [
  {
    label: ({ pages }) => pages.answer,
    pages: [
      { to: "/inbox", icon: "inbox", label: ({ pages }) => pages.inbox },
      { to: "/chat", icon: "message", label: ({ pages }) => pages.chat },
      { to: "/documents", icon: "file-text", label: ({ pages }) => pages.documents, isNotTab: true },
    ],
  },
  {
    label: ({ pages }) => pages.govern,
    pages: [
      { to: "/organisation", icon: "hierarchy-2", label: ({ pages }) => pages.organisation },
      { to: "/tools", icon: "tool", label: ({ pages }) => pages.tools, isNotTab: true },
      { to: "/rules", icon: "scale", label: ({ pages }) => pages.rules, isNotTab: true },
    ],
  },
  {
    label: ({ pages }) => pages.lookBack,
    pages: [
      { to: "/activity", icon: "activity", label: ({ pages }) => pages.activity, isNotTab: true },
      { to: "/audit", icon: "list-check", label: ({ pages }) => pages.audit },
    ],
  },
]

export const pages = sections.flatMap((section) => section.pages)
