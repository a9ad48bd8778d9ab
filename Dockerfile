# Reverie with its default model. The embedded PostgreSQL keeps its data on the volume /data;
# set REVERIE_DATABASE_URL to use your own PostgreSQL (15+, pgvector 0.8.4+) instead. It listens on all addresses of the
# container, so it wants a key: REVERIE_BOOTSTRAP_ADMIN_KEY makes the first one.
FROM python:3.13-slim-trixie AS build
WORKDIR /src
RUN python -m venv /opt/reverie
ENV PATH=/opt/reverie/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY runtime.lock ./
RUN pip install --require-hashes -r runtime.lock
COPY pyproject.toml README.md schema.sql weights.lock ./
COPY migrations ./migrations
COPY prompts ./prompts
COPY client ./client
COPY indexer ./indexer
COPY server ./server
COPY benchmarks/reverie_bench ./benchmarks/reverie_bench
RUN pip install --no-deps . \
    && reverie models fetch --to /opt/reverie/share/reverie/weights

FROM python:3.13-slim-trixie
RUN groupadd --system --gid 10001 reverie \
    && useradd --system --uid 10001 --gid reverie --create-home --home-dir /home/reverie reverie \
    && install -d -o reverie -g reverie /data
COPY --from=build /opt/reverie /opt/reverie
ENV PATH=/opt/reverie/bin:$PATH REVERIE_DATA_DIR=/data REVERIE_HOST=0.0.0.0 PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8077
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8077/healthz', timeout=2)"]
CMD ["reverie", "serve"]
