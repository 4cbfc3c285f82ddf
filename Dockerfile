# docker build -t rspverify .
# docker run --rm -v "$PWD:/work" rspverify check mine.yaml litmus --expect expected.yaml
FROM python:3.11-slim
COPY pyproject.toml README.md LICENSE /src/
COPY schemes /src/schemes
COPY litmus /src/litmus
COPY litmus-amdgpu /src/litmus-amdgpu
COPY litmus-ptx /src/litmus-ptx
COPY rspverify /src/rspverify
RUN pip install --no-cache-dir /src && rm -rf /src
ENV RSPVERIFY_CACHE=/tmp/rspverify
WORKDIR /work
ENTRYPOINT ["rspverify"]
