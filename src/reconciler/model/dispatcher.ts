/** Sends requests. A Dispatcher, an Agent or a MockAgent of undici is one. */
export interface Dispatcher {
  /** Sends one request, and calls the handler with what becomes of it. */
  dispatch(request: DispatchedRequest, handler: DispatchHandler): boolean;
}

/** A request to send. */
export interface DispatchedRequest {
  /** Scheme, host and port. */
  origin?: string | URL;
  /** The path with its query. */
  path: string;
  /** The method, such as GET. */
  method: string;
  /** The headers, by lower-case name. */
  headers?: Record<string, string>;
  /** The body; null for none. */
  body?: string | null;
  /** Milliseconds until an answer begins; 0 for no limit. */
  headersTimeout?: number;
  /** Milliseconds between two parts of an answer; 0 for no limit. */
  bodyTimeout?: number;
}

/** Stops a request. */
export interface DispatchController {
  /** Gives the request up; its connection is closed. */
  abort(reason: Error): void;
}

/** Receives the answer to a request. */
export interface DispatchHandler {
  /** The request begins to be sent. */
  onRequestStart?(controller: DispatchController, context: unknown): void;
  /** The connection became something other than HTTP. */
  onRequestUpgrade?(controller: DispatchController, ...rest: unknown[]): void;
  /** Status and headers have arrived. */
  onResponseStart?(
    controller: DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void;
  /** A part of the body has arrived. */
  onResponseData?(controller: DispatchController, chunk: Buffer): void;
  /** The answer is complete. */
  onResponseEnd?(controller: DispatchController, trailers: unknown): void;
  /** The request has failed. */
  onResponseError?(controller: DispatchController, error: Error): void;
}
