/** Every limit a person may notice, with its unit in the name (S-1). No code repeats a literal. */

export const messageBytesMax = 1024 * 1024
export const steersPendingMax = 20
export const steersPerBoundaryMax = 10
export const followUpsMax = 50

/** Of sessions, items and turns; and of requests. */
export const idCharsMax = 64
export const requestIdCharsMax = 128

export const sliceItems = 80
export const sliceItemsMax = 400
/** Items a window holds of one session, beside those of the running turn. */
export const heldItemsMax = 480
export const itemTextBytesMax = 64 * 1024
export const listPage = 100
export const listPageMax = 500
export const deltaIntervalMs = 16
export const eventBytesMax = 256 * 1024
/** All messages of a session that wait for the agent or in the queue. */
export const waitingBytesMax = 128 * 1024

export const drainMs = 5_000
export const drainYieldingMs = 30_000
/** Bindings of completion keys to turns that a session keeps, newest last (T-27). */
export const completionKeysMax = 1_000
/** Ends of processes that come within this of one another start one turn. */
export const wakeGatherMs = 2_000
/** Turns of finished processes in a row without a person's. */
export const wokenTurnsMax = 10
/** How long a used-up quota pauses automatic turns where the provider does not say when it is there again. */
export const quotaPauseMs = 60 * 60_000
/** How long a background turn may take. */
export const backgroundTurnMs = 30 * 60_000
/** Subagents that run at once in all sessions, and that wait in one (C-96). */
export const subagentsRunningMax = 8
export const subagentsWaitingMax = 16
export const subagentLabelCharsMax = 80
export const subagentTaskCharsMax = 64_000
/** What the agent is given of a subagent's result; the rest stands in a blob (C-98). */
export const subagentResultCharsMax = 16_000
/** How long a turn that would end waits for its subagents in the background, in all (T-42). */
export const subagentsWaitedMs = 300_000
export const settleRetryMs = [100, 1_000, 5_000, 30_000] as const
export const heldDeltaBytesMax = 4 * 1024 * 1024
export const deltasPrunableAfterMs = 5 * 60_000
export const commitSlowMs = 5_000
export const commitTimeoutMs = 30_000

export const repliesKeptMs = 5 * 60_000
export const repliesKeptMax = 256
export const idleActorsMax = 64
/** How long a session without a message outlives its last client: a reload comes back for it (S-3). */
export const unsentLeaseMs = 30_000
export const outputContinuationsMax = 3
export const recoveriesContinuedMax = 3
export const compactionsPerTurnMax = 3
export const compactionFocusCharsMax = 500
export const compactionExcerptChars = 320

export const planEntriesMax = 50
export const planEntryCharsMax = 500
export const noticesMax = 20
export const noticeCharsMax = 500
export const questionCharsMax = 4_000
export const choicesMax = 12
export const choiceCharsMax = 200
export const denialCharsMax = 2_000
export const errorMessageCharsMax = 2_000
export const errorDetailCharsMax = 1_200
export const toolTitleCharsMax = 80
export const toolSummaryCharsMax = 4_000
export const toolArgsBytesMax = 16 * 1024
export const toolOutputCharsMax = 64_000

export const titleCharsMax = 200
/** Folders outside its workspace that a session may be given. */
export const extraFoldersMax = 20
export const titleProvisionalCharsMax = 64
export const titleGeneratedCharsMax = 80
export const titleFallbackCharsMax = 60

export const attachmentsMax = 20
export const mentionsMax = 50
/** What the model is told of a mentioned session and terminal, and of all mentions of a message. */
export const mentionedSessionChars = 4_000
export const mentionedTerminalLines = 200
export const mentionedTerminalBytes = 16 * 1024
export const mentionedBytesMax = 64 * 1024
export const attachmentBytesMax = 50 * 1024 * 1024
export const attachmentsBytesMax = 200 * 1024 * 1024
/** Of all pictures of a message. */
export const attachedImagesBytesMax = 50 * 1024 * 1024

/** The editor opens and saves text files up to this size; of larger ones the beginning is shown. */
export const editedBytesMax = 5 * 1024 * 1024

/** A workspace with more files has no checkpoints (F-1007). */
export const coveredFilesMax = 250_000
/** A larger file is in no checkpoint (F-1006). */
export const coveredBytesMax = 10 * 1024 * 1024

/** Pictures are shown up to this size; larger ones say theirs. */
export const shownPictureBytesMax = 10 * 1024 * 1024
/** Comments that wait in a draft to be sent, and characters of one and of the lines it quotes. */
export const commentsMax = 50
export const commentCharsMax = 8_000

export const deletedKeptDays = 7
/** Bodies that nothing refers to any more stay so long (S-23). */
export const blobsKeptMs = 24 * 3_600_000
export const rewoundKeptDays = 30
export const undoDeleteMs = 10_000
export const draftQuietMs = 500
export const queryCharsMax = 500
export const searchHits = 20
export const hitsPerSessionMax = 3
export const snippetChars = 160
/** Prompts that Up brings back: of the session, and of others in its workspace. */
export const promptsOfSessionMax = 100
export const promptsOfWorkspaceMax = 200
/** How long a process that owns the data folder is waited for, and how often it is looked for. */
export const hostWaitMs = 20_000
export const hostPollMs = 100

/** Of an agent's file, of its description, and files that a folder of agents may hold. */
export const agentFileBytesMax = 32 * 1024
export const agentDescriptionCharsMax = 200
export const agentsMax = 100

/** Characters of an export in one answer (S-91). */
export const exportPartChars = 512 * 1024
/** The version of exported files that is written, and the newest that is read. */
export const sessionFileVersion = 1
export const importBytesMax = 512 * 1024 * 1024
/** Characters of one value in an imported file: an item with all its text. */
export const importValueCharsMax = 64 * 1024 * 1024
/** Lists and objects in one another, in a value that is kept: what goes over it again goes deeper with each. */
export const nestedValuesMax = 256

export const frameBytesMax = 8 * 1024 * 1024
export const socketsMax = 16
export const ticketMs = 30_000
export const cardInertMs = 500
export const freeDiskMin = 100 * 1024 * 1024
export const freeDiskWarn = 500 * 1024 * 1024
export const settleMs = 5_000
