/** The language of group descriptions and of the sentences that a source design gives in Chinese. */
export type Language = "en" | "zh"
