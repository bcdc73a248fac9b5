# The product as an image: docker build -t chainnet:0.1.0 .
# One binary, no shell scripts of ours, no root. docs/operations.md says how to run it.

FROM rust:1.95.0-bookworm AS build
# The image's own toolchain; the repository's file asks for development tools besides.
ENV RUSTUP_TOOLCHAIN=1.95.0
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package chainnet \
    && install -D target/release/chainnet /out/chainnet

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/chainnet --shell /usr/sbin/nologin chainnet \
    && install --directory --owner=chainnet --group=chainnet --mode=0700 /var/lib/chainnet
COPY --from=build /out/chainnet /usr/local/bin/chainnet

# Inside a container other containers are the neighbours; which ports the world sees is decided outside.
ENV CHAINNET_DATA=/var/lib/chainnet \
    API_HOST=0.0.0.0 \
    GATEWAY_HOST=0.0.0.0 \
    FAUCET_HOST=0.0.0.0 \
    EXPLORER_HOST=0.0.0.0 \
    METRICS_HOST=0.0.0.0
VOLUME /var/lib/chainnet
WORKDIR /var/lib/chainnet
USER chainnet
# REST, faucet, explorer, gateway, metrics.
EXPOSE 4000 4001 3000 8540 9464

# HEALTH_PORT is the port of the role that runs: 4000 for api and up.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${HEALTH_PORT:-4000} && printf 'GET /health HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]

ENTRYPOINT ["chainnet"]
CMD ["up"]
