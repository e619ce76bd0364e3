import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core"

const pine: MantineColorsTuple = [
  "#e7f3ee",
  "#cfe7dd",
  "#a3d3c1",
  "#7fd0b5",
  "#5fc9a8",
  "#2b9679",
  "#177a62",
  "#0b6652",
  "#085442",
  "#063f33",
]

/** Mantine's own scales. Colours with a meaning are --qm-* in styles/tokens.css. */
export const theme = createTheme({
  colors: { pine },
  primaryColor: "pine",
  primaryShade: { light: 7, dark: 6 },
  fontFamily:
    '"Inter Variable", Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif',
  fontFamilyMonospace:
    '"JetBrains Mono Variable", "JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono CJK SC", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  lineHeights: { xs: "1.3334", sm: "1.5385", md: "1.4286", lg: "1.5", xl: "1.3" },
  spacing: { xs: "0.25rem", sm: "0.5rem", md: "0.75rem", lg: "1rem", xl: "1.5rem" },
  radius: { xs: "3px", sm: "5px", md: "8px", lg: "12px", xl: "999px" },
  defaultRadius: "sm",
  respectReducedMotion: true,
})

/** The sources of the colours of Mantine's components. */
const variables = {
  "--mantine-color-body": "var(--qm-surface)",
  "--mantine-color-text": "var(--qm-ink)",
  "--mantine-color-dimmed": "var(--qm-ink-3)",
  "--mantine-color-placeholder": "var(--qm-ink-3)",
  "--mantine-color-anchor": "var(--qm-accent)",
  "--mantine-color-error": "var(--qm-deny)",
  "--mantine-color-default": "var(--qm-surface)",
  "--mantine-color-default-hover": "var(--qm-hover)",
  "--mantine-color-default-color": "var(--qm-ink)",
  "--mantine-color-default-border": "var(--qm-line-strong)",
  "--mantine-shadow-sm": "var(--qm-shadow-sm)",
  "--mantine-shadow-md": "var(--qm-shadow-md)",
}

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: variables, dark: variables })
