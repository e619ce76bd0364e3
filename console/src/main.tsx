import "@mantine/core/styles.layer.css"
import "@mantine/spotlight/styles.layer.css"
import "./styles/fonts.css"
import "./styles/tokens.css"
import "./styles/base.css"
import "./styles/frame.css"
import "./styles/card.css"
import { MantineProvider } from "@mantine/core"
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { queries } from "./api/live.ts"
import { router } from "./router.tsx"
import { cssVariables, theme } from "./theme.ts"
import { NoticesProvider } from "./ui/notices.tsx"
import { LanguageProvider } from "./words/words.tsx"

const nonce = document.querySelector<HTMLMetaElement>('meta[name="qm-nonce"]')?.content ?? ""
// Dialogs lock the page's scrolling with a style element of their own library, which takes its nonce from here.
Object.assign(globalThis, { __webpack_nonce__: nonce })
const root = document.getElementById("root")
if (root === null) throw new Error("The page has no #root.")

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
      deduplicateInlineStyles
    >
      <LanguageProvider>
        <QueryClientProvider client={queries}>
          <NoticesProvider>
            <RouterProvider router={router} />
          </NoticesProvider>
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
)
