import { Component, type ErrorInfo, type ReactNode } from 'react'
import { ErrorState } from './error-state.tsx'

type ErrorBoundaryProps = {
  /** The pane's name as people know it: "Changes", "Transcript". */
  pane: string
  /** A change of this value (another session, say) gives the pane a fresh start. */
  resetKey?: string | undefined
  /** Where the error is recorded; the text shown never holds a stack. */
  onError?: ((error: unknown, componentStack: string) => void) | undefined
  children: ReactNode
}

type Failure = { error: unknown; stack: string }

/** One around every pane: a pane that throws leaves the others working (S-175). */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { failure: Failure | null }> {
  override state: { failure: Failure | null } = { failure: null }

  static getDerivedStateFromError(error: unknown): { failure: Failure } {
    return { failure: { error, stack: error instanceof Error ? (error.stack ?? '') : '' } }
  }

  override componentDidCatch(error: unknown, { componentStack }: ErrorInfo): void {
    this.props.onError?.(error, componentStack ?? '')
  }

  override componentDidUpdate(previous: ErrorBoundaryProps): void {
    if (this.state.failure && previous.resetKey !== this.props.resetKey) this.retry()
  }

  private readonly retry = (): void => this.setState({ failure: null })

  override render(): ReactNode {
    const { failure } = this.state
    if (!failure) return this.props.children
    return (
      <ErrorState
        what={`${this.props.pane} stopped working`}
        message={failure.error instanceof Error ? failure.error.message : String(failure.error)}
        code="app.internal"
        details={failure.stack}
        onRetry={this.retry}
      />
    )
  }
}
